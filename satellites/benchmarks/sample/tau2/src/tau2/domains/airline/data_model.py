class FlightInfo(BaseModel):
    flight_number: str = Field(description="Such as AB100.")
    date: str = Field(
        description="The day of the departure."
    )


class Payment(BaseModel):
    amount: int = Field(description="In dollars.")
