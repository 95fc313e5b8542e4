/**
 * 200 texts that attack a page which does not escape what it shows: markup, scripts, addresses, templates, ends of
 * elements, control characters and characters that turn the direction of text. Each would set `window.hacked` or send a
 * request.
 */
export const PAYLOADS: readonly string[] = [
  ...crossed(
    [
      '',
      '"',
      "'",
      '>',
      '">',
      "'>",
      '</script>',
      '</style>',
      '</textarea>',
      '</title>',
      '-->',
      ']]>',
      '</svg>',
      '{{',
      '${',
    ],
    [
      '<script>hacked=1</script>',
      '<img src=x onerror=hacked=1>',
      '<svg onload=hacked=1>',
      '<iframe srcdoc="<script>parent.hacked=1</script>">',
      '<a href="javascript:hacked=1">read on</a>',
      '<style>@import "http://127.0.0.1:1/x";</style>',
      '<link rel=stylesheet href=http://127.0.0.1:1/x>',
      '<math><mtext></form><form><mglyph><style></math><img src onerror=hacked=1>',
      '<details open ontoggle=hacked=1>',
      '<input autofocus onfocus=hacked=1>',
      '<meta http-equiv=refresh content="0;url=javascript:hacked=1">',
      '<object data="http://127.0.0.1:1/x"></object>',
    ],
  ),
  '[read on](javascript:hacked=1)',
  '![picture](http://127.0.0.1:1/x.png)',
  'javascript:hacked=1',
  'data:text/html,<script>hacked=1</script>',
  '__proto__',
  'constructor',
  'toString',
  '\u202Egnp.exe\u202C',
  '\u2066hidden\u2069 \u200Bzero\u200D',
  '\u0000\u0007\u001b[31mred\u001b[0m',
  '%3Cscript%3Ehacked=1%3C/script%3E',
  '&lt;script&gt;hacked=1&lt;/script&gt;',
  '=HYPERLINK("http://127.0.0.1:1/x")',
  "hacked=1//'-hacked=1-'",
  '<!--><img src=x onerror=hacked=1>-->',
  '\ud83d\ude00'.repeat(50),
  `${'long'.repeat(500)}`,
  '\n\n\t',
  '🏳️‍🌈 ﷽ ẛ̣',
  'Z̴͉̈a̵l̶g̷o̸',
].slice(0, 200)

function crossed(starts: readonly string[], ends: readonly string[]): string[] {
  return starts.flatMap((start) => ends.map((end) => start + end))
}
