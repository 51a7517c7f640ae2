kernel "scale"
