import { parse } from 'smol-toml'
import { z } from 'zod'
import { round } from '../../python/round.ts'
import { numberOf } from '../../python/value.ts'
import { each } from '../fields.ts'

const Signal = z.enum(['none', 'poor', 'fair', 'good', 'excellent'])
export const MODES = ['4g_5g_preferred', '4g_only', '3g_only', '2g_only'] as const
export const PERMISSIONS = ['sms', 'storage', 'phone', 'network'] as const

const flag = z.boolean().default(false)
const nullableText = z.string().max(1_000).nullable()

export const apnSettings = z.strictObject({
  apn_name: z.enum(['internet', 'broken']).default('internet'),
  reset_at_reboot: flag,
  mms_apn: nullableText.default('mms'),
  mmsc_url: nullableText.default('http://mms.carrier.com/mms/wapenc'),
  mms_proxy: nullableText.default(null),
  mms_port: z.int().nullable().default(null),
})

const vpn = z.strictObject({ server_address: z.string(), protocol: z.string(), server_performance: Signal })
const app = z.strictObject({ app_name: z.string(), permissions: z.strictObject(each(flag, ...PERMISSIONS)) })

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
  vpn_details: vpn.nullable().default(null),
  app_statuses: z.record(z.string(), app),
  ...each(flag, 'sim_card_missing', 'airplane_mode', 'roaming_enabled', 'data_saver_mode'),
  ...each(flag, 'wifi_enabled', 'wifi_connected', 'wifi_calling_enabled', 'wifi_calling_mms_over_wifi'),
  ...each(flag, 'vpn_enabled_setting', 'vpn_connected'),
})

const paymentRequest = z.strictObject({ bill_id: z.string(), amount_due: z.number(), paid: z.boolean() })

const surroundings = z.strictObject({
  ...each(nullableText.default(null), 'name', 'phone_number'),
  signal_strength: z
    .strictObject(each(Signal, '2G', '3G', '4G', '5G'))
    .default({ '2G': 'poor', '3G': 'fair', '4G': 'good', '5G': 'excellent' }),
  line_active: z.boolean().default(true),
  payment_request: paymentRequest.nullable().default(null),
  ...each(flag, 'is_abroad', 'roaming_allowed', 'mobile_data_usage_exceeded'),
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

export function simStatus({ device }: Phone) {
  return device.sim_card_missing ? 'missing' : device.sim_card_status
}

/** Changes fields of the phone, after which it searches a network. */
export function setDevice(phone: Phone, fields: Partial<Phone['device']> = {}): void {
  const { device, surroundings } = phone
  Object.assign(device, fields)
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

export const NO_WIFI = { wifi_connected: false, wifi_ssid: null, wifi_signal_strength: 'none' } as const

export function setAirplaneMode(phone: Phone, on: boolean): void {
  const { device } = phone
  if (on || device.wifi_enabled) Object.assign(device, NO_WIFI)
  if (on) disconnectVpn(phone)
  setDevice(phone, { airplane_mode: on })
}

export function connectVpn({ device, vpn }: Phone): void {
  device.vpn_connected = true
  device.vpn_details = { server_address: '192.168.1.1', protocol: 'OpenVPN', server_performance: vpn }
}

export function disconnectVpn({ device }: Phone): void {
  Object.assign(device, { vpn_connected: false, vpn_details: null })
}

export function permissionsOf({ device: { app_statuses: apps } }: Phone, app: string) {
  return Object.hasOwn(apps, app) ? apps[app]?.permissions : undefined
}

export function dataWorks({ device, surroundings }: Phone): boolean {
  return (
    !device.airplane_mode &&
    device.network_signal_strength !== 'none' &&
    device.network_connection_status !== 'no_service' &&
    (!surroundings.is_abroad || (device.roaming_enabled && surroundings.roaming_allowed)) &&
    device.data_enabled &&
    !surroundings.mobile_data_usage_exceeded
  )
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

/** Returns the speed of mobile data in Mbps, with its name and advice; `null` without a connection. */
export function speedOf(phone: Phone) {
  if (!dataWorks(phone)) return null
  const { device } = phone
  const slow = device.vpn_connected && device.vpn_details?.server_performance === 'poor'
  const factor = (slow ? 0.1 : 1) * (device.data_saver_mode ? 0.2 : 1)
  const [low, high] = SPEEDS[device.network_technology_connected]
  const speed = numberOf(round(((low + high) / 2) * SIGNAL_FACTORS[device.network_signal_strength] * factor, 2))
  const [, name, advice] = ADVICE.find(([below]) => speed < below) ?? ADVICE[4]
  return { speed, name, advice }
}

export function canSendMms(phone: Phone): boolean {
  const { device } = phone
  const permissions = permissionsOf(phone, 'messaging')
  return (
    dataWorks(phone) &&
    device.network_technology_connected !== '2G' &&
    !(device.wifi_calling_enabled && device.wifi_calling_mms_over_wifi) &&
    device.active_apn_settings.mmsc_url !== null &&
    permissions?.storage === true &&
    permissions.sms
  )
}
