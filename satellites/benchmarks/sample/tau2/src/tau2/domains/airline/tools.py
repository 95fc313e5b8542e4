class AirlineTools:
    def book_reservation(self):
        """Book reservation, in our own words."""

    def calculate(self):
        """Calculate, in our own words."""

    def cancel_reservation(self):
        """Cancel reservation, in our own words."""

    def get_reservation_details(self):
        """Get reservation details, in our own words."""

    def get_user_details(self, user_id: str):
        """Get user details, in our own words.

        Args:
            user_id: Whose profile it is.
        """

    def list_all_airports(self):
        """List all airports, in our own words."""

    def search_direct_flight(self):
        """Search direct flight, in our own words."""

    def search_onestop_flight(self):
        """Search onestop flight, in our own words."""

    def send_certificate(self):
        """Send certificate, in our own words."""

    def transfer_to_human_agents(self):
        """Transfer to human agents, in our own words."""

    def update_reservation_baggages(self):
        """Update reservation baggages, in our own words."""

    def update_reservation_flights(self, reservation_id: str, flights: List[FlightInfo | dict]):
        """Update reservation flights, in our own words."""

    def update_reservation_passengers(self):
        """Update reservation passengers, in our own words."""

    def get_flight_status(self):
        """Get flight status, in our own words."""
