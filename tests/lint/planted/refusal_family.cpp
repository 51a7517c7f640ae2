bool custom_kernels_available();
void plain() { if (!custom_kernels_available()) throw std::runtime_error("no custom kernels"); } // L2 L4
void braces() {
  if (custom_kernels_available() == false) { // L2 L4
    const std::string why = "none";
    throw std::runtime_error(why);
  }
}
void checked() { ENGINE_CHECK(custom_kernels_available(), "none"); } // L2 L4
