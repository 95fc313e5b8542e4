class TelecomUserTools:
    def check_status_bar(self):
        """Check status bar, in our own words."""

    def check_network_status(self):
        """Check network status, in our own words."""

    def check_network_mode_preference(self):
        """Check network mode preference, in our own words."""

    def set_network_mode_preference(self):
        """Set network mode preference, in our own words."""

    def run_speed_test(self):
        """Run speed test, in our own words."""

    def toggle_airplane_mode(self):
        """Toggle airplane mode, in our own words."""

    def check_sim_status(self):
        """Check sim status, in our own words."""

    def reseat_sim_card(self):
        """Reseat sim card, in our own words."""

    def toggle_data(self):
        """Toggle data, in our own words."""

    def toggle_roaming(self):
        """Toggle roaming, in our own words."""

    def check_data_restriction_status(self):
        """Check data restriction status, in our own words."""

    def toggle_data_saver_mode(self):
        """Toggle data saver mode, in our own words."""

    def check_apn_settings(self):
        """Check apn settings, in our own words."""

    def set_apn_settings(self):
        """Set apn settings, in our own words."""

    def reset_apn_settings(self):
        """Reset apn settings, in our own words."""

    def check_wifi_status(self):
        """Check wifi status, in our own words."""

    def toggle_wifi(self):
        """Toggle wifi, in our own words."""

    def check_wifi_calling_status(self):
        """Check wifi calling status, in our own words."""

    def toggle_wifi_calling(self):
        """Toggle wifi calling, in our own words."""

    def check_vpn_status(self):
        """Check vpn status, in our own words."""

    def connect_vpn(self):
        """Connect vpn, in our own words."""

    def disconnect_vpn(self):
        """Disconnect vpn, in our own words."""

    def check_installed_apps(self):
        """Check installed apps, in our own words."""

    def check_app_status(self):
        """Check app status, in our own words."""

    def check_app_permissions(self):
        """Check app permissions, in our own words."""

    def grant_app_permission(self):
        """Grant app permission, in our own words."""

    def can_send_mms(self):
        """Can send mms, in our own words."""

    def reboot_device(self):
        """Reboot device, in our own words."""

    def check_payment_request(self):
        """Check payment request, in our own words."""

    def make_payment(self):
        """Make payment, in our own words."""
