DEFAULT_MODEL_NAME = "some model"
