import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import JSZip from 'jszip';
import { temporaryFolder } from '../../scripts/lib/cleanup.mjs';
import { vsixPath } from '../../scripts/lib/paths.mjs';
import { uiTest } from './support/uiTest.ts';

const CART = 'src/cart.ts';

/** The package as it would be for a machine that no engine is made for. */
async function packageWithoutEngine(): Promise<string> {
  const archive = await JSZip.loadAsync(fs.readFileSync(vsixPath));
  const native = Object.keys(archive.files).filter(name => name.startsWith('extension/dist/native/'));
  assert.ok(native.length > 0, 'the package has native files');
  for (const name of native) archive.remove(name);
  const file = path.join(temporaryFolder('redline-no-engine-'), 'redline.vsix');
  fs.writeFileSync(file, await archive.generateAsync({ type: 'nodebuffer' }));
  return file;
}

uiTest(
  'without a structural engine the user and the model are told so, and everything else works',
  { vsix: await packageWithoutEngine() },
  async workbench => {
    const before = workbench.readFile(CART);
    await workbench.openRedlineChat();
    await workbench.sendChat('/replace console.log($$$A) => logger.info($$$A) in src/**/*.ts');
    await workbench.toast('Structural search is not available').waitFor();
    const told = workbench.chatFrame().getByText('Structural search does not work on this machine');
    // In the row of the call, which is folded.
    await told.first().waitFor({ state: 'attached' });

    await workbench.sendChat(`/edit ${CART} :: total += item.price; => total += item.price * item.quantity;`);
    await workbench.lens('Apply').waitFor();
    assert.equal(workbench.readFile(CART), before);
    await workbench.lens('Apply').click();
    await workbench.waitForFile(CART, text => text?.includes('* item.quantity') === true);
    await workbench.sendChat('/call search_text {"query": "quantity"}');
    await workbench.chatFrame().locator('pre').getByText('item.quantity').last().waitFor();
  },
);
