import assert from 'node:assert/strict';
import { replyOf } from '../support/serverFixtures.ts';
import { modelTest } from './support/uiTest.ts';

/** Pastes a picture of 96 × 64 pixels into the prompt, as the clipboard would hand it over. */
const PASTE = `new Promise(done => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 96, height: 64 });
  const pen = canvas.getContext('2d');
  pen.fillStyle = 'teal';
  pen.fillRect(0, 0, 96, 64);
  pen.fillStyle = 'gold';
  pen.fillRect(30, 10, 36, 44);
  canvas.toBlob(blob => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([blob], 'image.png', { type: 'image/png' }));
    const pasted = new ClipboardEvent('paste', { clipboardData, cancelable: true });
    document.querySelector('#prompt').dispatchEvent(pasted);
    done();
  });
})`;

modelTest(
  'a pasted image goes to the model and is still shown after a reload; reasoning is folded above the answer',
  [replyOf('deepseek', 'reasoning, text and usage in the last chunk')],
  async (workbench, server) => {
    await workbench.openRedlineChat();
    const chat = workbench.chatFrame();
    await chat.locator('body').evaluate(PASTE);
    await chat.locator('.composer').getByRole('img', { name: 'Image: Pasted image' }).waitFor();
    await workbench.screenshot('image-pasted');
    await workbench.sendChat('What is this?');
    await chat.getByText('Then that.').waitFor();
    const sent = JSON.stringify(server.requests[0]?.body.messages);
    assert.match(sent, /"image_url":\{"url":"data:image\/png;base64,iVBORw0KGgo/);
    await chat.locator('.reasoning summary').click();
    await chat.getByText('First this.').waitFor();
    await workbench.screenshot('image-sent');
    await workbench.reload();
    await workbench.openRedlineChat();
    const shown = chat.locator('.user').getByRole('img', { name: 'Image: Pasted image' });
    await shown.waitFor();
    const width = await shown.evaluate((image: { decode(): Promise<void>; readonly naturalWidth: number }) =>
      image.decode().then(() => image.naturalWidth),
    );
    assert.equal(width, 96);
    await workbench.screenshot('image-reloaded');
  },
);
