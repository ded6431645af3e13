// RUN: not vgf-opt %s -p 'vgf-plan-memory{algorithm=luck}' 2>&1 | filecheck %s

// CHECK: option 'algorithm' of pass 'vgf-plan-memory': expected one of best, size, breadth, improved, none, found 'luck'
module {}
