/** Counts words. It changes nothing, so there is nothing to preview. */
export default () => ({
  name: 'count_words',
  label: 'Count Words',
  description: 'Count the words of text files of the workspace.',
  readOnly: true,
  parameters: {
    type: 'object',
    properties: { paths: { type: 'array', items: { type: 'string' }, minItems: 1 } },
    required: ['paths'],
  },

  async execute(_toolCallId, { paths }, onUpdate, ctx) {
    const lines = [];
    for (const path of paths) {
      onUpdate(`${lines.length} of ${paths.length} files`);
      const text = (await ctx.readFile(path)) ?? '';
      lines.push(`${path}: ${text.split(/\s+/).filter(Boolean).length}`);
    }
    return { content: [{ type: 'text', text: lines.join('\n') }] };
  },
});
