/** Runs in the browser: all themes of one scene beside each other. */
import german from '../../l10n/bundle.l10n.de.json';
import chinese from '../../l10n/bundle.l10n.zh-cn.json';
import { chatScenes as scenes } from '../../test/support/chatScenes.ts';
import { THEMES } from './themes.mjs';

const texts = { en: {}, de: german, 'zh-cn': chinese };
const asked = new URLSearchParams(location.search);
const shown = {
  scene: asked.get('scene') ?? Object.keys(scenes)[0],
  language: asked.get('language') ?? Object.keys(texts)[0],
};
const [nav, main] = ['nav', 'main'].map(name => document.querySelector(name));
for (const [kind, names] of Object.entries({ scene: Object.keys(scenes), language: Object.keys(texts) }))
  for (const name of names) {
    const link = document.createElement('a');
    link.href = `/?${new URLSearchParams({ ...shown, [kind]: name })}`;
    link.className = shown[kind] === name ? 'here' : '';
    link.textContent = name;
    nav.append(link);
  }
for (const [at, theme] of Object.keys(THEMES).entries()) {
  const [figure, caption, frame] = ['figure', 'figcaption', 'iframe'].map(name =>
    document.createElement(name),
  );
  caption.textContent = frame.title = theme;
  frame.src = `/panel-${at}.html`;
  figure.append(caption, frame);
  main.append(figure);
}
addEventListener('message', ({ data, source }) => {
  console.log('the page says', data);
  if (data.type !== 'ready') return;
  source.document.documentElement.lang = shown.language;
  source.postMessage({ type: 'language', texts: texts[shown.language] });
  source.postMessage(scenes[shown.scene]);
});
new EventSource('/esbuild').addEventListener('change', () => location.reload());
