/** A black pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
/** A recording of nothing: the header of a WAV file alone. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

export const text = (body: string) => ({ type: 'text', text: body })
export const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' }
export const SOUND = { type: 'audio', data: WAV, mimeType: 'audio/wav' }
export const RESOURCE_TEXT = 'This is an embedded resource content.'
