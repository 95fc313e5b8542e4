const switched = (...names: readonly string[]) =>
  names.flatMap((name) => ['turned', 'switched', 'toggled', 'enabled', 'disabled'].map((done) => `${done} ${name}`))

/** Words by which a user says that it has called a tool of its phone that changes something. */
export const PHONE_CLAIMS = {
  reboot_device: ['rebooted', 'restarted'],
  reseat_sim_card: ['reseated', 're-seated', 'reinserted'],
  set_network_mode_preference: ['set network mode', 'changed network mode', 'switched network mode'],
  toggle_airplane_mode: switched('airplane mode'),
  toggle_data: switched('mobile data', 'data'),
  toggle_roaming: switched('roaming', 'data roaming', 'mobile data roaming'),
  toggle_data_saver_mode: switched('data saver', 'mobile data saver'),
  toggle_wifi: switched('wifi', 'wi-fi'),
  toggle_wifi_calling: switched('wifi calling', 'wi-fi calling'),
  set_apn_settings: ['set APN', 'entered APN'],
  reset_apn_settings: ['reset APN'],
  // Who is `connected to` one may have found it so.
  connect_vpn: ['connected VPN', 'reconnected to VPN'],
  disconnect_vpn: ['disconnected VPN', 'disconnected from VPN'],
  grant_app_permission: ['permission', 'app', 'messaging', 'sms', 'storage', 'access'].map((one) => `granted ${one}`),
  make_payment: ['paid bill'],
}
