import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from '@cinnabar/sdk';
import { parseJson } from '../install/json.js';
import { type Sought, wrong } from './findings.js';

/** `t('…'`, with the text. */
const CALL = /(?<![\w.$])t\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")/g;
const MOST = 5;

/** What the catalogues of a plugin lack. @param declared texts that are translated where they are shown */
export async function checkCatalogues(
  folder: string,
  files: readonly { readonly text: string }[],
  declared: readonly string[],
): Promise<readonly Sought[]> {
  const names = await readdir(join(folder, 'locales')).catch(() => []);
  const said = files.flatMap(({ text }) => messagesIn(text));
  const wanted = [...new Set([...said, ...declared])].filter((text) => /\p{L}/u.test(text));
  const findings = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .map(async (name) => {
        const file = `locales/${name}`;
        const text = await readFile(join(folder, file), 'utf8');
        const parsed = z.record(z.string(), z.string()).safeParse(parseJson(text));
        if (!parsed.success)
          return [wrong('catalogue', 'it is no object of texts, { "English": "translated" }: mend it', { file })];
        const missing = wanted.filter((one) => !Object.hasOwn(parsed.data, one));
        if (missing.length === 0) return [];
        const shown = missing.slice(0, MOST).map((one) => JSON.stringify(one));
        const more = missing.length > MOST ? ` and ${missing.length - MOST} more` : '';
        return [
          wrong('catalogue', `it lacks ${shown.join(', ')}${more}: add what they are in that language`, { file }),
        ];
      }),
  );
  return findings.flat();
}

function messagesIn(code: string): readonly string[] {
  if (!/\bt\b[^;]*from ['"]/.test(code)) return [];
  const plain = code.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  return [...plain.matchAll(CALL)].map(([, single, double]) => unescaped(single ?? double ?? ''));
}

/** What a string literal stands for. */
function unescaped(literal: string): string {
  return literal.replace(/\\(n|u\{([0-9a-f]+)\}|.)/gi, (_, one: string, point: string | undefined) =>
    point !== undefined ? String.fromCodePoint(Number.parseInt(point, 16)) : one === 'n' ? '\n' : one,
  );
}
