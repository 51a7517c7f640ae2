kernel(12) {}
kernel {}
