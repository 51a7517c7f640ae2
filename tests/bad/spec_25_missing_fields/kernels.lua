kernel "scale" {}
