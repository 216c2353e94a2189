package desktop
