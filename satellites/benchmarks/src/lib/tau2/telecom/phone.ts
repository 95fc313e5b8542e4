import type { JsonObject } from '@episodic/protocol'
import { parse } from 'smol-toml'
import { z } from 'zod'
import { repr } from '../../python/repr.ts'
import { formatFixed, round } from '../../python/round.ts'
import { formatFloat, numberOf } from '../../python/value.ts'
import { type DomainTool, domainTool } from '../domain.ts'

const Signal = z.enum(['none', 'poor', 'fair', 'good', 'excellent'])
const MODES = ['4g_5g_preferred', '4g_only', '3g_only', '2g_only'] as const
const PERMISSIONS = ['sms', 'storage', 'phone', 'network'] as const

const nullableText = z.string().max(1_000).nullable()
const text = z.string().max(4_000)
const flags = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, z.boolean().default(false)])) as {
    [Key in Name]: z.ZodDefault<z.ZodBoolean>
  }

const apnSettings = z.strictObject({
  apn_name: z.enum(['internet', 'broken']).default('internet'),
  ...flags('reset_at_reboot'),
  mms_apn: nullableText.default('mms'),
  mmsc_url: nullableText.default('http://mms.carrier.com/mms/wapenc'),
  mms_proxy: nullableText.default(null),
  mms_port: z.int().nullable().default(null),
})

const device = z.strictObject({
  sim_card_status: z.enum(['active', 'missing', 'locked_pin', 'locked_puk']).default('active'),
  network_signal_strength: Signal.default('good'),
  network_technology_connected: z.enum(['none', '2G', '3G', '4G', '5G']).default('5G'),
  network_connection_status: z.enum(['connected', 'searching', 'no_service', 'emergency_only']).default('connected'),
  network_mode_preference: z.enum(MODES).default('4g_5g_preferred'),
  battery_level: z.int().default(80),
  data_enabled: z.boolean().default(true),
  active_apn_settings: apnSettings.prefault({}),
  wifi_ssid: nullableText.default(null),
  wifi_signal_strength: Signal.default('none'),
  vpn_details: z
    .strictObject({ server_address: z.string(), protocol: z.string(), server_performance: Signal })
    .nullable()
    .default(null),
  app_statuses: z.record(
    z.string(),
    z.strictObject({ app_name: z.string(), permissions: z.strictObject(flags(...PERMISSIONS)) }),
  ),
  ...flags('sim_card_missing', 'airplane_mode', 'roaming_enabled', 'wifi_enabled', 'wifi_connected', 'data_saver_mode'),
  ...flags('wifi_calling_enabled', 'wifi_calling_mms_over_wifi', 'vpn_enabled_setting', 'vpn_connected'),
})

const surroundings = z.strictObject({
  name: nullableText.default(null),
  phone_number: nullableText.default(null),
  signal_strength: z
    .strictObject({ '2G': Signal, '3G': Signal, '4G': Signal, '5G': Signal })
    .default({ '2G': 'poor', '3G': 'fair', '4G': 'good', '5G': 'excellent' }),
  line_active: z.boolean().default(true),
  payment_request: z
    .strictObject({ bill_id: z.string(), amount_due: z.number(), paid: z.boolean() })
    .nullable()
    .default(null),
  ...flags('is_abroad', 'roaming_allowed', 'mobile_data_usage_exceeded'),
})

/** The phone of the user, what is around it, and how the VPN performs that it connects to. */
export const phoneSchema = z.strictObject({
  device,
  surroundings: surroundings.prefault({}),
  vpn: Signal.default('excellent'),
})
export type Phone = z.output<typeof phoneSchema>

/** Reads `user_db.toml` of the original. */
export function readPhone(toml: string): Phone {
  return phoneSchema.parse(parse(toml))
}

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

/** Speeds of each network in Mbps, and what of them a signal leaves. */
const SPEEDS = { none: [0, 0], '2G': [0.1, 0.4], '3G': [1, 5], '4G': [10, 100], '5G': [50, 500] } as const
const SIGNAL_FACTORS = { none: 0, poor: 0.2, fair: 0.5, good: 0.8, excellent: 1 }
/** What the phone says of a speed below so many Mbps. */
const ADVICE = [
  [1, 'Very Poor', 'Connection is very slow. Basic web browsing might be difficult.'],
  [5, 'Poor', 'Connection is slow. Web browsing may be sluggish, streaming difficult.'],
  [25, 'Fair', 'Connection is okay for web browsing and some standard definition streaming.'],
  [100, 'Good', 'Connection is good for most activities, including HD streaming.'],
  [Infinity, 'Excellent', 'Connection is very fast.'],
] as const

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
  return [...icons, `🔋 ${device.battery_level}%`].join(' | ')
}

function simStatus({ device }: Phone) {
  return device.sim_card_missing ? 'missing' : device.sim_card_status
}

/** What the phone finds after a change of its radio. */
function searchNetwork(phone: Phone): void {
  const { device, surroundings } = phone
  const isCut =
    simStatus(phone) !== 'active' ||
    device.airplane_mode ||
    device.active_apn_settings.apn_name === 'broken' ||
    !surroundings.line_active
  const { signal_strength: signals } = surroundings
  const preferred = signals['5G'] === 'none' ? '4G' : '5G'
  const networks = { '4g_5g_preferred': preferred, '4g_only': '4G', '3g_only': '3G', '2g_only': '2G' } as const
  const network = networks[device.network_mode_preference]
  device.network_connection_status = isCut ? 'no_service' : 'connected'
  device.network_technology_connected = isCut ? 'none' : network
  device.network_signal_strength = isCut ? 'none' : signals[network]
}

function dataWorks({ device, surroundings }: Phone): boolean {
  return (
    !device.airplane_mode &&
    device.network_signal_strength !== 'none' &&
    device.network_connection_status !== 'no_service' &&
    (!surroundings.is_abroad || (device.roaming_enabled && surroundings.roaming_allowed)) &&
    device.data_enabled &&
    !surroundings.mobile_data_usage_exceeded
  )
}

/** Returns the speed of mobile data in Mbps, with its name and advice; `null` without a connection. */
function speedOf(phone: Phone) {
  if (!dataWorks(phone)) return null
  const { device } = phone
  const slow = device.vpn_connected && device.vpn_details?.server_performance === 'poor'
  const factor = (slow ? 0.1 : 1) * (device.data_saver_mode ? 0.2 : 1)
  const [low, high] = SPEEDS[device.network_technology_connected]
  const speed = numberOf(round(((low + high) / 2) * SIGNAL_FACTORS[device.network_signal_strength] * factor, 2))
  const [, name, advice] = ADVICE.find(([below]) => speed < below) ?? ADVICE[4]
  return { speed, name, advice }
}

function canSendMms(phone: Phone): boolean {
  const { device } = phone
  const permissions = device.app_statuses.messaging?.permissions
  return (
    dataWorks(phone) &&
    device.network_technology_connected !== '2G' &&
    !(device.wifi_calling_enabled && device.wifi_calling_mms_over_wifi) &&
    device.active_apn_settings.mmsc_url !== null &&
    permissions?.storage === true &&
    permissions.sms
  )
}

const NO_WIFI = { wifi_connected: false, wifi_ssid: null, wifi_signal_strength: 'none' } as const

function setAirplaneMode(phone: Phone, on: boolean): void {
  const { device } = phone
  device.airplane_mode = on
  if (on || device.wifi_enabled) Object.assign(device, NO_WIFI)
  if (on) disconnectVpn(phone)
  searchNetwork(phone)
}

function connectVpn({ device, vpn }: Phone): boolean {
  if (device.vpn_connected) return false
  device.vpn_connected = true
  device.vpn_details = { server_address: '192.168.1.1', protocol: 'OpenVPN', server_performance: vpn }
  return true
}

function disconnectVpn({ device }: Phone): boolean {
  const { vpn_connected: connected } = device
  device.vpn_connected = false
  device.vpn_details = null
  return connected
}

function permissionsOf({ device: { app_statuses: apps } }: Phone, app: string) {
  return Object.hasOwn(apps, app) ? apps[app]?.permissions : undefined
}

function grantedTo(phone: Phone, app: string): string[] | null {
  const permissions = permissionsOf(phone, app)
  return permissions ? PERMISSIONS.filter((permission) => permissions[permission]) : null
}

type Play<Shape extends z.ZodRawShape> = (phone: Phone, input: z.output<z.ZodObject<Shape>>) => string
const NO_INPUT: Record<never, never> = {}

/** A tool that changes nothing. */
const view = <Shape extends z.ZodRawShape>(shape: Shape, play: Play<Shape>) =>
  domainTool<Phone, Shape>('user', 'reads', shape, play)

/** A tool whose answer is followed by the status bar. */
const change = <Shape extends z.ZodRawShape>(shape: Shape, play: Play<Shape>) =>
  domainTool<Phone, Shape>('user', 'changes', shape, (phone, input) => {
    const answer = play(phone, input)
    return `${answer}\nStatus Bar: ${statusBar(phone)}`
  })

type Switch = 'data_enabled' | 'roaming_enabled' | 'data_saver_mode' | 'wifi_calling_enabled'

/** A tool that turns a setting on or off, after which the phone may have to search a network. */
const toggle = (setting: Switch, name: string, after: (phone: Phone) => void = () => {}) =>
  change(NO_INPUT, (phone) => {
    phone.device[setting] = !phone.device[setting]
    after(phone)
    return `${name} is now ${onOff(phone.device[setting])}.`
  })

/** The tools of the user. */
export const PHONE_TOOLS = {
  check_status_bar: view(NO_INPUT, (phone) => `Status Bar: ${statusBar(phone)}`),
  check_network_status: view(NO_INPUT, (phone) => {
    const { device } = phone
    return [
      `Airplane Mode: ${onOff(device.airplane_mode)}`,
      `SIM Card Status: ${simStatus(phone)}`,
      `Cellular Connection: ${device.network_connection_status}`,
      `Cellular Signal: ${device.network_signal_strength}`,
      `Cellular Network Type: ${device.network_technology_connected}`,
      `Mobile Data Enabled: ${yesNo(device.data_enabled)}`,
      `Data Roaming Enabled: ${yesNo(device.roaming_enabled)}`,
      `Wi-Fi Radio: ${onOff(device.wifi_enabled)}`,
      `Wi-Fi Connected: ${yesNo(device.wifi_connected)}`,
      ...(device.wifi_connected ? [`Connected Wi-Fi Network: ${device.wifi_ssid}`] : []),
    ].join('\n')
  }),
  check_network_mode_preference: view(
    NO_INPUT,
    ({ device }) => `Network Mode Preference: ${device.network_mode_preference}`,
  ),
  set_network_mode_preference: change({ mode: text }, (phone, { mode }) => {
    const known = MODES.find((one) => one === mode)
    if (!known)
      return `Failed to set network mode: '${mode}' is not a valid option. Please use one of: ${MODES.join(', ')}`
    setDevice({ network_mode_preference: known })(phone)
    return `Preferred Network Mode set to: ${known}`
  }),
  run_speed_test: view(NO_INPUT, (phone) => {
    const found = speedOf(phone)
    if (!found) return 'Speed test failed: No Connection.'
    return `Speed Test Result: ${formatFixed(found.speed, 2)} Mbps (${found.name}). ${found.advice}`
  }),
  toggle_airplane_mode: change(NO_INPUT, (phone) => {
    setAirplaneMode(phone, !phone.device.airplane_mode)
    return `Airplane Mode is now ${onOff(phone.device.airplane_mode)}.`
  }),
  check_sim_status: view(NO_INPUT, (phone) => SIM_TEXTS[simStatus(phone)]),
  reseat_sim_card: change(NO_INPUT, (phone) => {
    setDevice({ sim_card_missing: false })(phone)
    return 'SIM card re-seated successfully.'
  }),
  toggle_data: toggle('data_enabled', 'Mobile Data', searchNetwork),
  toggle_roaming: toggle('roaming_enabled', 'Data Roaming', searchNetwork),
  check_data_restriction_status: view(NO_INPUT, ({ device }) =>
    device.data_saver_mode ? 'Data Saver mode is ON (limits data usage).' : 'Data Saver mode is OFF.',
  ),
  toggle_data_saver_mode: toggle('data_saver_mode', 'Data Saver Mode'),
  check_apn_settings: view(
    NO_INPUT,
    ({ device: { active_apn_settings: apn } }) =>
      `Current APN Name: ${apn.apn_name}\nMMSC URL (for picture messages): ${apn.mmsc_url || 'Not Set'}\n(These are technical settings, usually best left unchanged.)`,
  ),
  set_apn_settings: change({ apn_settings: apnSettings }, (phone, { apn_settings }) => {
    setDevice({ active_apn_settings: apn_settings })(phone)
    return `APN settings set to: ${apn_settings.apn_name}`
  }),
  reset_apn_settings: change(NO_INPUT, (phone) => {
    phone.device.active_apn_settings.reset_at_reboot = true
    searchNetwork(phone)
    return 'APN settings will reset at reboot.'
  }),
  check_wifi_status: view(NO_INPUT, ({ device }) => {
    if (!device.wifi_enabled) return 'Wi-Fi is turned OFF.'
    if (!device.wifi_connected) return 'Wi-Fi is ON but not connected to any network.'
    return `Wi-Fi is ON and connected to '${device.wifi_ssid}'. Signal strength: ${device.wifi_signal_strength}.`
  }),
  toggle_wifi: change(NO_INPUT, ({ device }) => {
    if (device.airplane_mode) return 'Cannot change Wi-Fi settings while Airplane Mode is ON.'
    device.wifi_enabled = !device.wifi_enabled
    if (!device.wifi_enabled) Object.assign(device, NO_WIFI)
    return `Wi-Fi is now ${onOff(device.wifi_enabled)}.`
  }),
  check_wifi_calling_status: view(
    NO_INPUT,
    ({ device }) => `Wi-Fi Calling is currently turned ${onOff(device.wifi_calling_enabled)}.`,
  ),
  toggle_wifi_calling: toggle('wifi_calling_enabled', 'Wi-Fi Calling'),
  check_vpn_status: view(NO_INPUT, ({ device: { vpn_details: vpn, vpn_enabled_setting } }) => {
    if (vpn) {
      const level = `<PerformanceLevel.${vpn.server_performance.toUpperCase()}: '${vpn.server_performance}'>`
      const fields = `'server_address': ${repr(vpn.server_address)}, 'protocol': ${repr(vpn.protocol)}`
      return `VPN is ON and connected. Details: {${fields}, 'server_performance': ${level}}`
    }
    return vpn_enabled_setting ? 'VPN is turned ON in settings, but currently not connected.' : 'VPN is turned OFF.'
  }),
  connect_vpn: domainTool('user', 'changes', NO_INPUT, (phone) =>
    connectVpn(phone) ? `VPN connected successfully.\nStatus Bar: ${statusBar(phone)}` : 'VPN already connected.',
  ),
  disconnect_vpn: change(NO_INPUT, (phone) =>
    disconnectVpn(phone) ? 'VPN disconnected successfully.' : 'No active VPN connection to disconnect.',
  ),
  check_installed_apps: view(
    NO_INPUT,
    ({ device }) => `The following apps are installed on the phone: ${Object.keys(device.app_statuses).join(', ')}`,
  ),
  check_app_status: view({ app_name: text }, (phone, { app_name }) => {
    const granted = grantedTo(phone, app_name)
    if (!granted) return `App '${app_name}' not found on this phone.`
    const heading = granted.length === 0 ? ' - Permissions: None granted.' : ' - Permissions Granted:'
    return [`Status for App: ${app_name}`, heading, ...granted.map((one) => `   - ${one}`)].join('\n')
  }),
  check_app_permissions: view({ app_name: text }, (phone, { app_name }) => {
    const granted = grantedTo(phone, app_name)
    if (!granted) return `App '${app_name}' not found on this phone.`
    if (granted.length === 0) return `App '${app_name}' currently has no permissions granted.`
    return `App '${app_name}' has permission for: ${granted.join(', ')}.`
  }),
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
  can_send_mms: view(
    NO_INPUT,
    (phone) => `Your messaging app ${canSendMms(phone) ? 'can' : 'cannot'} send MMS messages.`,
  ),
  reboot_device: change(NO_INPUT, (phone) => {
    const resets = phone.device.active_apn_settings.reset_at_reboot
    if (resets) phone.device.active_apn_settings = apnSettings.parse({})
    searchNetwork(phone)
    return `${resets ? 'Resetting APN settings...\n' : ''}Restarting network services...`
  }),
  check_payment_request: view(NO_INPUT, ({ surroundings: { payment_request: request } }) =>
    request
      ? `You have a payment request for bill ${request.bill_id} of ${formatFloat(request.amount_due)} USD.`
      : 'No payment request has been made.',
  ),
  make_payment: domainTool('user', 'changes', NO_INPUT, ({ surroundings: { payment_request: request } }) => {
    if (!request) return 'You do not have a payment request.'
    request.paid = true
    return `Payment of ${formatFloat(request.amount_due)} USD has been made for bill ${request.bill_id}.`
  }),
} satisfies { readonly [name: string]: DomainTool<Phone> }

/** Changes fields of the phone, after which it searches a network. */
const setDevice = (fields: Partial<Phone['device']>) => (phone: Phone) => {
  Object.assign(phone.device, fields)
  searchNetwork(phone)
}

type Initialization = (phone: Phone, given: JsonObject) => unknown

/** Functions of the original that are no tools: they prepare tasks. */
export const PHONE_INITIALIZATIONS: { readonly [name: string]: Initialization } = {
  set_user_info: ({ surroundings }, { name, phone_number }) => Object.assign(surroundings, { name, phone_number }),
  set_user_location: ({ surroundings }, { abroad }) => Object.assign(surroundings, { is_abroad: abroad }),
  simulate_network_search: searchNetwork,
  set_network_mode_preference: (phone, { mode }) => setDevice({ network_mode_preference: mode as '2g_only' })(phone),
  turn_airplane_mode_on: (phone) => setAirplaneMode(phone, true),
  turn_data_off: setDevice({ data_enabled: false }),
  turn_roaming_on: setDevice({ roaming_enabled: true }),
  turn_roaming_off: setDevice({ roaming_enabled: false }),
  turn_data_saver_mode_on: ({ device }) => Object.assign(device, { data_saver_mode: true }),
  unseat_sim_card: setDevice({ sim_card_missing: true }),
  lock_sim_card: (phone, { mode }) =>
    setDevice({ sim_card_status: mode === 'pin' ? 'locked_pin' : 'locked_puk' })(phone),
  break_apn_settings(phone) {
    phone.device.active_apn_settings.apn_name = 'broken'
    searchNetwork(phone)
  },
  break_apn_mms_setting: ({ device }) => Object.assign(device.active_apn_settings, { mmsc_url: null }),
  /** In the original the details are one object for all connections, so that the next one is slow too. */
  break_vpn(phone) {
    connectVpn(phone)
    phone.vpn = 'poor'
    Object.assign(phone.device.vpn_details ?? {}, { server_performance: 'poor' })
  },
  set_wifi_calling: ({ device }, { enabled, mms_over_wifi = device.wifi_calling_mms_over_wifi }) =>
    Object.assign(device, { wifi_calling_enabled: enabled, wifi_calling_mms_over_wifi: mms_over_wifi }),
  remove_app_permission: (phone, { app_name, permission }) =>
    Object.assign(permissionsOf(phone, app_name as string) ?? {}, { [permission as string]: false }),
}

/** What tasks assert of a phone. */
export const PHONE_ASSERTIONS: { readonly [name: string]: (phone: Phone, given: JsonObject) => boolean } = {
  assert_service_status: ({ device }, { expected_status }) => device.network_connection_status === expected_status,
  assert_mobile_data_status: (phone, { expected_status }) => dataWorks(phone) === expected_status,
  assert_can_send_mms: (phone, { expected_status }) => canSendMms(phone) === expected_status,
  assert_internet_speed(phone, { expected_speed, expected_desc }) {
    const { speed, name } = speedOf(phone) ?? { speed: 0, name: 'No Connection' }
    return speed >= Number(expected_speed) && name.toLowerCase() === String(expected_desc ?? name).toLowerCase()
  },
}
