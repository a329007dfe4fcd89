import { decodedText } from '../../text/encodings.ts';
/** Start of an email in a mailbox. */
const MAIL = /^(?=From \S+ .*\d{4}\r?$)/m;
const ENCODING = /^content-transfer-encoding:\s*(base64|quoted-printable)\s*$/im;
const CHARSET = /^content-type:[^\n]*(?:\r?\n[ \t][^\n]*)*?\bcharset="?(?<charset>[\w-]+)/im;

/** The text with its emails decoded: programs that send emails may encode their content. */
export function decodedMails(text: string): string {
  return ENCODING.test(text) ? text.split(MAIL).map(decoded).join('') : text;
}

function decoded(mail: string): string {
  const [headers = ''] = mail.split(/\r?\n\r?\n/, 1);
  const encoding = ENCODING.exec(headers)?.[1]?.toLowerCase();
  if (encoding === undefined) return mail;
  const body = mail.slice(headers.length);
  const bytes = encoding === 'base64' ? Buffer.from(body, 'base64') : fromQuotedPrintable(body);
  return `${headers}\n\n${decodedText(bytes, CHARSET.exec(headers)?.groups?.['charset'])}\n`;
}

function fromQuotedPrintable(text: string): Uint8Array {
  const sign = (_: string, digits: string): string => String.fromCharCode(Number.parseInt(digits, 16));
  const joined = text.replace(/(?<![ \t])[ \t]+(?=\r?$)/gm, '').replace(/=\r?\n/g, '');
  return Buffer.from(joined.replace(/=([\dA-F]{2})/gi, sign), 'latin1');
}
