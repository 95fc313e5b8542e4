class RetailTools:
    def calculate(self):
        """Calculate, in our own words."""

    def cancel_pending_order(self):
        """Cancel pending order, in our own words."""

    def exchange_delivered_order_items(self):
        """Exchange delivered order items, in our own words."""

    def find_user_id_by_name_zip(self):
        """Find user id by name zip, in our own words."""

    def find_user_id_by_email(self):
        """Find user id by email, in our own words."""

    def get_order_details(self, order_id: str):
        """Get order details, in our own words.

        Args:
            order_id: With its #.
        """

    def get_product_details(self):
        """Get product details, in our own words."""

    def get_item_details(self):
        """Get item details, in our own words."""

    def get_user_details(self):
        """Get user details, in our own words."""

    def list_all_product_types(self):
        """List all product types, in our own words."""

    def modify_pending_order_address(self):
        """Modify pending order address, in our own words."""

    def modify_pending_order_items(self):
        """Modify pending order items, in our own words."""

    def modify_pending_order_payment(self):
        """Modify pending order payment, in our own words."""

    def modify_user_address(self):
        """Modify user address, in our own words."""

    def return_delivered_order_items(self):
        """Return delivered order items, in our own words."""

    def transfer_to_human_agents(self):
        """Transfer to human agents, in our own words."""
