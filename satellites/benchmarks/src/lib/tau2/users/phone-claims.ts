const switched = (...names: readonly string[]) =>
  names.flatMap((name) => ['turned', 'switched', 'toggled', 'enabled', 'disabled'].map((done) => `${done} ${name}`))

/** Words by which a user says that it has called a tool of its phone. */
export const PHONE_CLAIMS = {
  reboot_device: ['rebooted', 'restarted'],
  reseat_sim_card: ['reseated', 're-seated', 'reinserted'],
  toggle_airplane_mode: switched('airplane mode'),
  toggle_data: switched('mobile data', 'data'),
  toggle_roaming: switched('roaming', 'data roaming'),
  toggle_data_saver_mode: switched('data saver'),
  toggle_wifi: switched('wifi', 'wi-fi'),
  toggle_wifi_calling: switched('wifi calling', 'wi-fi calling'),
  reset_apn_settings: ['reset APN'],
  disconnect_vpn: ['disconnected VPN', 'disconnected from VPN'],
  grant_app_permission: ['granted'],
  run_speed_test: ['ran speed test'],
  make_payment: ['paid bill'],
}
