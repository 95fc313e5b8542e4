DEFAULT_STATE = {
    "random_seed": 141053,
    "fuelLevel": 0.0,
    "batteryVoltage": 12.0,
    "engine_state": "stopped",
    "remainingUnlockedDoors": 4,
    "doorStatus": {"driver": "unlocked", "passenger": "unlocked", "rear_left": "unlocked", "rear_right": "unlocked"},
    "acTemperature": 20.0,
    "fanSpeed": 10,
    "acMode": "auto",
    "humidityLevel": 40.0,
    "headLightStatus": "off",
    "parkingBrakeStatus": "released",
    "_parkingBrakeForce": 0.0,
    "_slopeAngle": 0.0,
    "brakePedalStatus": "released",
    "brakePedalForce": 0.0,
    "distanceToNextVehicle": 50.0,
    "cruiseStatus": "inactive",
    "destination": "None",
    "frontLeftTirePressure": 32.0,
    "frontRightTirePressure": 32.0,
    "rearLeftTirePressure": 30.0,
    "rearRightTirePressure": 30.0,
}

if (cityA == "11" and cityB == "22") or (
    cityA == "22" and cityB == "11"
):
    distance = {"distance": 40.0}

if city == "Atown":
    return {"zipcode": "11"}
shop = {"shopLocation": "1 Long Road"}
