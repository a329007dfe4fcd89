import assert from 'node:assert/strict';
import type { Workbench } from './support/workbench.mjs';
import { readTexts } from '../../scripts/l10n/translations.mjs';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { countText, fill } from '../../src/agent/base/localiser.ts';
import { uiTest } from './support/uiTest.ts';
import { assertWalkthrough } from './support/walkthrough.ts';

const CART = '/edit src/cart.ts :: total += item.price; => total += item.price * item.quantity;';
const MONEY = '/edit src/money.ts :: toFixed(2) => toFixed(3)';

/** Each language in a kind of theme of its own. */
const THEMES = [
  ['dark', 'Default High Contrast'],
  ['light', 'Default High Contrast Light'],
] as const;

/** The controls of the chat whose text does not fit into them. */
function cutOff(workbench: Workbench): Promise<string[]> {
  return workbench
    .chatFrame()
    .locator('button:visible, textarea:visible')
    .evaluateAll(all =>
      all
        .filter(
          one =>
            one.scrollWidth > one.clientWidth + 1 ||
            one.scrollHeight > one.clientHeight + 1 ||
            one.getBoundingClientRect().right > one.ownerDocument.documentElement.clientWidth,
        )
        .map(one => one.textContent || one.id),
    );
}

for (const [index, [language, { bundle, manifest }]] of Object.entries(readTexts().translations).entries()) {
  const [shade, theme] = THEMES[index % THEMES.length] ?? assert.fail();
  const t = (text: string): string => bundle[text] ?? assert.fail(`no translation: ${text}`);
  const named = (key: string): string => manifest[key] ?? assert.fail(`no translation: ${key}`);

  uiTest(
    `the core story and the walkthrough are told in the language ${language} (${theme}), and nothing is cut off`,
    { language, settings: { 'workbench.colorTheme': theme }, pictures: inRepo('out', 'language-pictures') },
    async workbench => {
      const { page } = workbench;
      const chat = workbench.chatFrame();
      const prompt = chat.locator('textarea#prompt');
      // VS Code's own part of the title is English, since no language pack is installed.
      await workbench.runCommand(`Redline: Focus on ${named('view.chat')} View`);
      await prompt.waitFor();
      assert.equal(
        await prompt.getAttribute('placeholder'),
        t('Ask for a change. / for commands, @ for files'),
      );
      await chat
        .locator('.empty-title')
        .getByText(t('Ask for a change, then review it as a diff.'))
        .waitFor();
      // That it is found where there is no room shows that the check can fail.
      const connect = chat.getByRole('button', { name: t('Connect a Model') });
      await connect.evaluate(button => (button.style.cssText = 'width: 1em; white-space: nowrap'));
      assert.deepEqual(await cutOff(workbench), [t('Connect a Model')]);
      await connect.evaluate(button => (button.style.cssText = ''));
      assert.deepEqual(await cutOff(workbench), []);
      await workbench.picture(`${language}-empty`);

      await workbench.sendChat(CART);
      await workbench.lens(t('Apply')).waitFor();
      await workbench.lens(t('Discard')).waitFor();
      await workbench.statusBarItem(fill(t('{0} pending'), 1)).waitFor();
      await workbench.sendChat(MONEY);
      await workbench.statusBarItem(fill(t('{0} pending'), 2)).waitFor();
      await page.locator('.pane-header').getByText(named('view.pending'), { exact: true }).waitFor();
      await chat
        .locator('article.card')
        .last()
        .getByRole('button', { name: t('Discard') })
        .first()
        .waitFor();
      assert.deepEqual(await cutOff(workbench), []);
      await workbench.picture(`${language}-pending`);

      // The palette shows the English title below.
      const discardAll = `Redline: ${named('command.discardAll')}`;
      await page.keyboard.press('F1');
      await page.locator('.quick-input-widget:visible input.input').fill(`>${discardAll}`);
      await page.locator('.quick-input-list').getByText(discardAll, { exact: true }).waitFor();
      await workbench.picture(`${language}-palette`);
      await page.keyboard.press('Escape');

      await workbench.runCommand(`Redline: ${named('command.applyAll')}`);
      await workbench.toast(countText(t('Applied 1 preview.|Applied {0} previews.'), { t })(2)).waitFor();
      await workbench.statusBarItem(fill(t('Review done: {0}'), fill(t('{0} applied'), 2))).waitFor();
      await workbench.picture(`${language}-applied`);

      await assertWalkthrough(workbench, manifest, shade, `${theme} ${language}`);
    },
  );
}
