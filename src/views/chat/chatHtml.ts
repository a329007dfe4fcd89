/** The URIs and the nonce for one load of the webview. */
export interface ChatHtmlParts {
  /** The content security policy source of the extension's own files. */
  readonly cspSource: string;
  /** Random for each load; only the script that has it runs. */
  readonly nonce: string;
  readonly scriptUri: string;
  /** In load order. */
  readonly styleUris: readonly string[];
  /** BCP 47, e.g. `en`. */
  readonly language: string;
  readonly title: string;
}

/** The HTML of the chat panel. Its content arrives later, through messages. */
export function chatHtml({ cspSource, nonce, scriptUri, styleUris, language, title }: ChatHtmlParts): string {
  const csp = [
    "default-src 'none'",
    `style-src ${cspSource}`,
    `font-src ${cspSource}`,
    `img-src ${cspSource}`,
    `script-src 'nonce-${nonce}'`,
  ].join('; ');
  const styles = styleUris.map(uri => `<link rel="stylesheet" href="${attribute(uri)}">`).join('\n');
  return `<!DOCTYPE html>
<html lang="${attribute(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${attribute(csp)}">
<title>${attribute(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
${styles}
</head>
<body>
<script nonce="${attribute(nonce)}" src="${attribute(scriptUri)}"></script>
</body>
</html>
`;
}

function attribute(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');
}
