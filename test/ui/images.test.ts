import assert from 'node:assert/strict';
import { replyOf } from '../support/serverFixtures.ts';
import { modelTest } from './support/uiTest.ts';

/** Hands a picture of 96 × 64 pixels to the prompt, as the clipboard would, or a mouse that drops it. */
const give = (event: string): string => `new Promise(done => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 96, height: 64 });
  const pen = canvas.getContext('2d');
  pen.fillStyle = 'teal';
  pen.fillRect(0, 0, 96, 64);
  pen.fillStyle = 'gold';
  pen.fillRect(30, 10, 36, 44);
  canvas.toBlob(blob => {
    const data = new DataTransfer();
    data.items.add(new File([blob], 'image.png', { type: 'image/png' }));
    document.querySelector('#prompt').dispatchEvent(${event});
    done();
  });
})`;
const PASTE = give("new ClipboardEvent('paste', { clipboardData: data, cancelable: true })");
/** Pastes it and presses Enter at once, before the panel's host can answer. */
const PASTE_AND_SEND = PASTE.replace(
  'done();',
  `const prompt = document.querySelector('#prompt');
    prompt.value = 'And this?';
    prompt.dispatchEvent(new Event('input'));
    prompt.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', cancelable: true }));
    done();`,
);
const DROP = give("new DragEvent('drop', { dataTransfer: data, cancelable: true })");

modelTest(
  'a pasted image goes to the model and is still shown after a reload; reasoning is folded above the answer',
  [replyOf('deepseek', 'reasoning, text and usage in the last chunk')],
  async (workbench, server) => {
    await workbench.openRedlineChat();
    const chat = workbench.chatFrame();
    await chat.locator('body').evaluate(PASTE);
    await chat.locator('.composer').getByRole('img', { name: 'Image: Pasted image' }).waitFor();
    await workbench.picture('image-pasted');
    await workbench.sendChat('What is this?');
    await chat.getByText('Then that.').waitFor();
    const sent = JSON.stringify(server.requests[0]?.body.messages);
    assert.match(sent, /"image_url":\{"url":"data:image\/png;base64,iVBORw0KGgo/);
    await chat.locator('.reasoning summary').click();
    await chat.getByText('First this.').waitFor();
    await workbench.picture('image-sent');
    await workbench.reload();
    await workbench.openRedlineChat();
    const shown = chat.locator('.user').getByRole('img', { name: 'Image: Pasted image' });
    await shown.waitFor();
    const width = await shown.evaluate((image: { decode(): Promise<void>; readonly naturalWidth: number }) =>
      image.decode().then(() => image.naturalWidth),
    );
    assert.equal(width, 96);
    await workbench.picture('image-reloaded');
  },
);

modelTest(
  'a dropped image is attached; a revert to before its prompt takes it out of the conversation and puts it back into the prompt',
  [{ text: 'A square.' }, { text: 'No image.' }, { text: 'A square again.' }],
  async (workbench, server) => {
    await workbench.openRedlineChat();
    const chat = workbench.chatFrame();
    const attached = chat.locator('.composer').getByRole('img', { name: 'Image: Pasted image' });
    const sent = (n: number): string => JSON.stringify(server.requests[n]?.body.messages);
    await chat.locator('body').evaluate(DROP);
    await attached.waitFor();
    await workbench.sendChat('What is this?');
    await chat.getByText('A square.').waitFor();
    assert.match(sent(0), /"image_url":\{"url":"data:image\/png;base64,/);

    await chat.locator('.item.user [data-action="revert"]').click();
    await attached.waitFor();
    assert.equal(await chat.locator('#prompt').inputValue(), 'What is this?');
    await chat.locator('.composer .chip-remove').click();
    await attached.waitFor({ state: 'detached' });
    await workbench.sendChat('And now?');
    await chat.getByText('No image.').waitFor();
    assert.doesNotMatch(sent(1), /image_url/);

    await chat.locator('body').evaluate(PASTE_AND_SEND);
    await chat.getByText('A square again.').waitFor();
    assert.match(sent(2), /"image_url":\{"url":"data:image\/png;base64,/);
  },
);
