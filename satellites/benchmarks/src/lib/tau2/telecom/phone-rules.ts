import { z } from 'zod'
import { repr } from '../../python/repr.ts'
import { formatFixed } from '../../python/round.ts'
import { formatFloat } from '../../python/value.ts'
import { rulesOver } from '../rule.ts'
import {
  apnSettings,
  canSendMms,
  connectVpn,
  dataWorks,
  disconnectVpn,
  MODES,
  NO_WIFI,
  PERMISSIONS,
  type Phone,
  permissionsOf,
  setAirplaneMode,
  setDevice,
  simStatus,
  speedOf,
} from './phone.ts'

const SIGNAL_ICONS = {
  none: '📵 No Signal',
  poor: '📶¹ Poor',
  fair: '📶² Fair',
  good: '📶³ Good',
  excellent: '📶⁴ Excellent',
}

const SIM_TEXTS = {
  active: 'Your SIM card is active and working.',
  missing: 'No SIM card detected in the phone.',
  locked_pin: 'The SIM card is locked with a PIN code.',
  locked_puk: 'The SIM card is locked with a PUK code.',
}

const onOff = (on: boolean) => (on ? 'ON' : 'OFF')
const yesNo = (yes: boolean) => (yes ? 'Yes' : 'No')

function statusBar({ device }: Phone): string {
  const icons: string[] = []
  if (device.airplane_mode) icons.push('✈️ Airplane Mode')
  else {
    const network = device.network_technology_connected
    icons.push(SIGNAL_ICONS[device.network_signal_strength])
    if (network !== 'none') icons.push(network)
    if (!device.data_enabled || network === 'none') icons.push('📵 Data Disabled')
    else icons.push('📱 Data Enabled', ...(device.data_saver_mode ? ['🔽 Data Saver'] : []))
  }
  if (device.wifi_enabled && device.wifi_connected)
    icons.push(device.wifi_ssid ? `📡 Connected to ${device.wifi_ssid}` : '📡 Enabled')
  if (device.vpn_connected) icons.push('🔒 VPN Connected')
  return `Status Bar: ${[...icons, `🔋 ${device.battery_level}%`].join(' | ')}`
}

const text = z.string().max(4_000)
const rule = rulesOver<Phone>()

/** A tool without input that changes nothing. */
const view = (play: (phone: Phone) => string) => rule('reads', {}, play)

/** A tool whose answer is followed by the status bar. */
const change = <Shape extends z.ZodRawShape>(
  shape: Shape,
  play: (phone: Phone, input: z.output<z.ZodObject<Shape>>) => string,
) => rule('changes', shape, (phone, input) => `${play(phone, input)}\n${statusBar(phone)}`)

type Switch = 'data_enabled' | 'roaming_enabled' | 'data_saver_mode' | 'wifi_calling_enabled'

/** A tool that turns a setting on or off, after which the phone may have to search a network. */
const toggle = (setting: Switch, name: string, set: typeof setDevice = ({ device }, to) => Object.assign(device, to)) =>
  change({}, (phone) => {
    set(phone, { [setting]: !phone.device[setting] })
    return `${name} is now ${onOff(phone.device[setting])}.`
  })

/** A tool that reads what an app may do, if it is installed. */
const viewApp = (play: (granted: readonly string[], app: string) => string) =>
  rule('reads', { app_name: text }, (phone, { app_name }) => {
    const permissions = permissionsOf(phone, app_name)
    if (!permissions) return `App '${app_name}' not found on this phone.`
    return play(
      PERMISSIONS.filter((permission) => permissions[permission]),
      app_name,
    )
  })

export const PHONE_RULES = {
  check_status_bar: view(statusBar),
  check_network_status: view((phone) => {
    const { device } = phone
    const status = [
      `Airplane Mode: ${onOff(device.airplane_mode)}`,
      `SIM Card Status: ${simStatus(phone)}`,
      `Cellular Connection: ${device.network_connection_status}`,
      `Cellular Signal: ${device.network_signal_strength}`,
      `Cellular Network Type: ${device.network_technology_connected}`,
      `Mobile Data Enabled: ${yesNo(device.data_enabled)}`,
      `Data Roaming Enabled: ${yesNo(device.roaming_enabled)}`,
      `Wi-Fi Radio: ${onOff(device.wifi_enabled)}`,
      `Wi-Fi Connected: ${yesNo(device.wifi_connected)}`,
    ]
    if (device.wifi_connected) status.push(`Connected Wi-Fi Network: ${device.wifi_ssid}`)
    return status.join('\n')
  }),
  check_network_mode_preference: view(({ device }) => `Network Mode Preference: ${device.network_mode_preference}`),
  set_network_mode_preference: change({ mode: text }, (phone, { mode }) => {
    const known = MODES.find((one) => one === mode)
    if (!known)
      return `Failed to set network mode: '${mode}' is not a valid option. Please use one of: ${MODES.join(', ')}`
    setDevice(phone, { network_mode_preference: known })
    return `Preferred Network Mode set to: ${known}`
  }),
  run_speed_test: view((phone) => {
    const found = speedOf(phone)
    if (!found) return 'Speed test failed: No Connection.'
    return `Speed Test Result: ${formatFixed(found.speed, 2)} Mbps (${found.name}). ${found.advice}`
  }),
  toggle_airplane_mode: change({}, (phone) => {
    setAirplaneMode(phone, !phone.device.airplane_mode)
    return `Airplane Mode is now ${onOff(phone.device.airplane_mode)}.`
  }),
  check_sim_status: view((phone) => SIM_TEXTS[simStatus(phone)]),
  reseat_sim_card: change({}, (phone) => {
    setDevice(phone, { sim_card_missing: false })
    return 'SIM card re-seated successfully.'
  }),
  toggle_data: toggle('data_enabled', 'Mobile Data', setDevice),
  toggle_roaming: toggle('roaming_enabled', 'Data Roaming', setDevice),
  check_data_restriction_status: view(
    ({ device }) => `Data Saver mode is ${device.data_saver_mode ? 'ON (limits data usage)' : 'OFF'}.`,
  ),
  toggle_data_saver_mode: toggle('data_saver_mode', 'Data Saver Mode'),
  check_apn_settings: view(
    ({ device: { active_apn_settings: apn } }) =>
      `Current APN Name: ${apn.apn_name}\nMMSC URL (for picture messages): ${apn.mmsc_url || 'Not Set'}\n(These are technical settings, usually best left unchanged.)`,
  ),
  set_apn_settings: change({ apn_settings: apnSettings }, (phone, { apn_settings }) => {
    setDevice(phone, { active_apn_settings: apn_settings })
    return `APN settings set to: ${apn_settings.apn_name}`
  }),
  reset_apn_settings: change({}, (phone) => {
    phone.device.active_apn_settings.reset_at_reboot = true
    setDevice(phone)
    return 'APN settings will reset at reboot.'
  }),
  check_wifi_status: view(({ device }) => {
    if (!device.wifi_enabled) return 'Wi-Fi is turned OFF.'
    if (!device.wifi_connected) return 'Wi-Fi is ON but not connected to any network.'
    return `Wi-Fi is ON and connected to '${device.wifi_ssid}'. Signal strength: ${device.wifi_signal_strength}.`
  }),
  toggle_wifi: change({}, ({ device }) => {
    if (device.airplane_mode) return 'Cannot change Wi-Fi settings while Airplane Mode is ON.'
    device.wifi_enabled = !device.wifi_enabled
    if (!device.wifi_enabled) Object.assign(device, NO_WIFI)
    return `Wi-Fi is now ${onOff(device.wifi_enabled)}.`
  }),
  check_wifi_calling_status: view(
    ({ device }) => `Wi-Fi Calling is currently turned ${onOff(device.wifi_calling_enabled)}.`,
  ),
  toggle_wifi_calling: toggle('wifi_calling_enabled', 'Wi-Fi Calling'),
  check_vpn_status: view(({ device: { vpn_details: vpn, vpn_enabled_setting: isOn } }) => {
    if (!vpn) return isOn ? 'VPN is turned ON in settings, but currently not connected.' : 'VPN is turned OFF.'
    const level = `<PerformanceLevel.${vpn.server_performance.toUpperCase()}: '${vpn.server_performance}'>`
    const fields = `'server_address': ${repr(vpn.server_address)}, 'protocol': ${repr(vpn.protocol)}`
    return `VPN is ON and connected. Details: {${fields}, 'server_performance': ${level}}`
  }),
  connect_vpn: rule('changes', {}, (phone) => {
    if (phone.device.vpn_connected) return 'VPN already connected.'
    connectVpn(phone)
    return `VPN connected successfully.\n${statusBar(phone)}`
  }),
  disconnect_vpn: change({}, (phone) => {
    const { vpn_connected: connected } = phone.device
    disconnectVpn(phone)
    return connected ? 'VPN disconnected successfully.' : 'No active VPN connection to disconnect.'
  }),
  check_installed_apps: view(
    ({ device }) => `The following apps are installed on the phone: ${Object.keys(device.app_statuses).join(', ')}`,
  ),
  check_app_status: viewApp((granted, app) => {
    const heading = granted.length === 0 ? ' - Permissions: None granted.' : ' - Permissions Granted:'
    return [`Status for App: ${app}`, heading, ...granted.map((one) => `   - ${one}`)].join('\n')
  }),
  check_app_permissions: viewApp((granted, app) =>
    granted.length === 0
      ? `App '${app}' currently has no permissions granted.`
      : `App '${app}' has permission for: ${granted.join(', ')}.`,
  ),
  grant_app_permission: change({ app_name: text, permission: text }, (phone, { app_name, permission }) => {
    const wanted = permission.toLowerCase()
    const known = PERMISSIONS.find((one) => one === wanted)
    const permissions = permissionsOf(phone, app_name)
    if (!permissions) return `Error. App '${app_name}' not found. Cannot grant permission.`
    if (!known)
      return `Error. Permission '${wanted}' not tracked for app '${app_name}', available permissions: ${repr(PERMISSIONS)}`
    permissions[known] = true
    return `Success. Permission '${wanted}' granted to app '${app_name}'.`
  }),
  can_send_mms: view((phone) => `Your messaging app ${canSendMms(phone) ? 'can' : 'cannot'} send MMS messages.`),
  reboot_device: change({}, (phone) => {
    const resets = phone.device.active_apn_settings.reset_at_reboot
    setDevice(phone, resets ? { active_apn_settings: apnSettings.parse({}) } : {})
    return `${resets ? 'Resetting APN settings...\n' : ''}Restarting network services...`
  }),
  check_payment_request: view(({ surroundings: { payment_request: request } }) => {
    if (!request) return 'No payment request has been made.'
    return `You have a payment request for bill ${request.bill_id} of ${formatFloat(request.amount_due)} USD.`
  }),
  make_payment: rule('changes', {}, ({ surroundings: { payment_request: request } }) => {
    if (!request) return 'You do not have a payment request.'
    request.paid = true
    return `Payment of ${formatFloat(request.amount_due)} USD has been made for bill ${request.bill_id}.`
  }),
}

/** Makes a function that sets fields of the phone, after which it searches a network. */
const sets = (fields: Partial<Phone['device']>) => (phone: Phone) => setDevice(phone, fields)

/** Functions of the original that are no tools: they prepare tasks. */
export const PHONE_INITIALIZATIONS: { readonly [name: string]: (phone: Phone, given: never) => unknown } = {
  set_user_info: ({ surroundings }, given: { name: string; phone_number: string }) =>
    Object.assign(surroundings, given),
  set_user_location: ({ surroundings }, { abroad }: { abroad: boolean }) =>
    Object.assign(surroundings, { is_abroad: abroad }),
  simulate_network_search: sets({}),
  set_network_mode_preference: (phone, { mode }: { mode: (typeof MODES)[number] }) =>
    setDevice(phone, { network_mode_preference: mode }),
  turn_airplane_mode_on: (phone) => setAirplaneMode(phone, true),
  turn_data_off: sets({ data_enabled: false }),
  turn_roaming_on: sets({ roaming_enabled: true }),
  turn_roaming_off: sets({ roaming_enabled: false }),
  turn_data_saver_mode_on: ({ device }) => Object.assign(device, { data_saver_mode: true }),
  unseat_sim_card: sets({ sim_card_missing: true }),
  lock_sim_card: (phone, { mode }: { mode: 'pin' | 'puk' }) => setDevice(phone, { sim_card_status: `locked_${mode}` }),
  break_apn_settings(phone) {
    phone.device.active_apn_settings.apn_name = 'broken'
    setDevice(phone)
  },
  break_apn_mms_setting: ({ device }) => Object.assign(device.active_apn_settings, { mmsc_url: null }),
  /** In the original the details are one object for all connections, so that the next one is slow too. */
  break_vpn(phone) {
    phone.vpn = 'poor'
    connectVpn(phone)
  },
  set_wifi_calling: ({ device }, given: { enabled: boolean; mms_over_wifi: boolean }) =>
    Object.assign(device, { wifi_calling_enabled: given.enabled, wifi_calling_mms_over_wifi: given.mms_over_wifi }),
  remove_app_permission: (phone, { app_name, permission }: { app_name: string; permission: string }) =>
    Object.assign(permissionsOf(phone, app_name) ?? {}, { [permission]: false }),
}

export const PHONE_ASSERTIONS: { readonly [name: string]: (phone: Phone, given: never) => boolean } = {
  assert_service_status: ({ device }, given: { expected_status: string }) =>
    device.network_connection_status === given.expected_status,
  assert_mobile_data_status: (phone, given: { expected_status: boolean }) => dataWorks(phone) === given.expected_status,
  assert_can_send_mms: (phone, given: { expected_status: boolean }) => canSendMms(phone) === given.expected_status,
  assert_internet_speed(phone, given: { expected_speed: number; expected_desc: string }) {
    const { speed, name } = speedOf(phone) ?? { speed: 0, name: 'No Connection' }
    return speed >= given.expected_speed && name.toLowerCase() === given.expected_desc.toLowerCase()
  },
}
