class TelecomTools:
    def get_customer_by_phone(self):
        """Get customer by phone, in our own words."""

    def get_customer_by_id(self):
        """Get customer by id, in our own words."""

    def get_customer_by_name(self):
        """Get customer by name, in our own words."""

    def get_details_by_id(self):
        """Get details by id, in our own words."""

    def suspend_line(self):
        """Suspend line, in our own words."""

    def resume_line(self):
        """Resume line, in our own words."""

    def get_bills_for_customer(self):
        """Get bills for customer, in our own words."""

    def send_payment_request(self):
        """Send payment request, in our own words."""

    def get_data_usage(self):
        """Get data usage, in our own words."""

    def enable_roaming(self):
        """Enable roaming, in our own words."""

    def disable_roaming(self):
        """Disable roaming, in our own words."""

    def transfer_to_human_agents(self):
        """Transfer to human agents, in our own words."""

    def refuel_data(self):
        """Refuel data, in our own words.

        Args:
            gb_amount: How much.
        """
