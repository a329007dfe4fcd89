import { test } from 'node:test';
import assert from 'node:assert/strict';
import { htmlText } from '../../../../../src/agent/session/tools/web/htmlText.ts';

const BASE = 'https://a.example/docs/';

test('blocks, lists, headings, links and entities become plain lines', () => {
  const html = `<!DOCTYPE html><html><head><title>My  page</title><style>p > a { x }</style></head>
    <body><!-- <p>not this --><h2>Head</h2><p>One&nbsp;&lt;two&gt; &#233;&#x41; &bogus; &toString; a<br>b</p>
    <ul><li>x<li>y <b>bold</b>!</ul><pre>  keep
    this</pre><script>if (a < b) document.write("</p>")</script>
    <table><tr><td>1</td><td>2</td></tr></table>
    <a title="a > b" href='page?x=1&amp;y=2'>link</a> <a href="#top">top</a> <a href="javascript:x">js</a> 1 < 2</body>`;
  assert.equal(
    htmlText(html, BASE),
    [
      'My page',
      '',
      '## Head',
      '',
      'One <two> éA &bogus; &toString; a',
      'b',
      '',
      '- x',
      '- y bold!',
      '',
      '  keep\n    this',
      '',
      '1 2',
      '',
      'link (https://a.example/docs/page?x=1&y=2) top js 1 < 2',
    ].join('\n'),
  );
});

test('a page that is cut off or made to be slow is read in one go', () => {
  for (const part of ['<!--', '<script>', '<a href="', '<p', '</', '<', '&', "<a b='"]) {
    const text = htmlText(part.repeat(100_000), BASE);
    assert.ok(text.length <= part.length * 100_000, part);
  }
  assert.equal(htmlText('a<script>never ends', BASE), 'a');
  assert.equal(htmlText('a <b title="never ends>x', BASE), 'a');
});
