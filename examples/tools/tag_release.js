/** Tags a release in git. The tag is made when the preview is applied, and not before. */
export default pi => ({
  name: 'tag_release',
  label: 'Tag Release',
  description: 'Propose to tag the current commit as a release.',
  parameters: pi.typebox.Type.Object({
    version: pi.typebox.Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$' }),
  }),

  async execute(_toolCallId, { version }) {
    const head = await pi.exec('git', ['log', '-1', '--format=%h %s']);
    if (head.code !== 0) throw new pi.ToolError(`There is no commit to tag: ${head.stderr.trim()}`);
    const commit = head.stdout.trim();
    pi.pushPendingAction({
      label: `Tag v${version}`,
      sourceToolName: 'tag_release',
      details: { version, commit },
      async apply() {
        const made = await pi.exec('git', ['tag', `v${version}`, commit.split(' ')[0]]);
        if (made.code !== 0) throw new Error(made.stderr.trim());
        return { content: [{ type: 'text', text: `Tagged ${commit} as v${version}.` }] };
      },
    });
    return { content: [{ type: 'text', text: `Prepared the tag v${version} on ${commit}.` }] };
  },
});
