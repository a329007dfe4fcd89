/** `node scripts/pictures/icon.mjs`: draws media/icon.png, the icon of the extension, from the shape of media/redline.svg. */
import * as fs from 'node:fs';
import { openBrowser } from '../headless/browser.mjs';
import { inRepo } from '../lib/paths.mjs';

const SIZE = 256;
/** The most bytes that the icon may have. */
const MAX_BYTES = 20_000;

const motif = fs.readFileSync(inRepo('media', 'redline.svg'), 'utf8');
/** The lines of the page, and the red one across it, which is the last path. */
const paths = [...motif.matchAll(/<path [^>]*\/>/g)].map(([element]) => element);
const line = paths.at(-1);
const page = paths.slice(0, -1);
const drawn = `<svg xmlns="http://www.w3.org/2000/svg" width="${SIZE}" height="${SIZE}" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="7" fill="#1f2430"/>
  <g transform="translate(4 4)" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
    <g stroke="#f4f5f7">${page.join('')}</g>
    <g stroke="#ff5a52">${line}</g>
  </g>
</svg>`;

const browser = await openBrowser({ viewport: { width: SIZE, height: SIZE } });
try {
  await browser.page.setContent(`<body style="margin:0;background:transparent">${drawn}</body>`);
  const image = await browser.page.screenshot({ omitBackground: true });
  if (image.length > MAX_BYTES)
    throw new Error(`The icon has ${image.length} bytes, more than ${MAX_BYTES}.`);
  fs.writeFileSync(inRepo('media', 'icon.png'), image);
} finally {
  await browser.close();
}
