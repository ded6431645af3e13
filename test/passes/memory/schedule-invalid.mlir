// RUN: not vgf-opt %s -p 'vgf-schedule{objective=time}' 2>&1 | filecheck %s
// RUN: not vgf-opt %s -p 'vgf-schedule{steps=many}' 2>&1 | filecheck %s --check-prefix=STEPS

// CHECK: option 'objective' of pass 'vgf-schedule': expected session or peak, found 'time'
// STEPS: option 'steps' of pass 'vgf-schedule': expected an integer, found 'many'
module {}
