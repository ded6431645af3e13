"""The shaders that come with vgfc; each module beside a .comp file says which operator it runs and how it is dispatched."""
