import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { operatorSentenceOf, z } from '@cinnabar/sdk';
import satisfies from 'semver/functions/satisfies.js';
import { HOST_VERSION } from '../../version.js';
import { type DiscoveredPlugin, inspectFolder, KEYWORD } from '../discovery.js';
import { parseJson } from '../install/files.js';
import { INSTALL_SCRIPTS } from '../install/package-file.js';
import { better, type Sought, wrong } from './findings.js';

const record = z.record(z.string(), z.string()).default({}).catch({});
const schema = z.looseObject({
  name: z.string().optional().catch(undefined),
  license: z.string().optional().catch(undefined),
  private: z.boolean().default(false).catch(false),
  keywords: z.array(z.string()).default([]).catch([]),
  files: z.array(z.string()).optional().catch(undefined),
  scripts: record,
  dependencies: record,
  devDependencies: record,
  optionalDependencies: record,
  peerDependencies: record,
});
export type PluginPackage = z.output<typeof schema>;

const FILE = 'package.json';
const SDK = '@cinnabar/sdk';
const NAME = /^(?:@[^/]+\/)?(?:cinnabar-plugin-[a-z][a-z0-9-]*|(?:plugin|example)-[a-z][a-z0-9-]*)$/;

interface Checked {
  readonly findings: readonly Sought[];
  /** `undefined` when the folder cannot be checked further. */
  readonly found: DiscoveredPlugin | undefined;
  readonly file: PluginPackage;
}

/** Checks a project's package.json. @param folder its path, symbolic links resolved */
export async function checkPackage(folder: string): Promise<Checked> {
  const text = await readFile(join(folder, FILE), 'utf8').catch(() => undefined);
  const parsed = schema.safeParse(text === undefined ? undefined : parseJson(text));
  const file = parsed.data ?? schema.parse({});
  if (!parsed.success) {
    const text_ =
      text === undefined
        ? `there is no package.json in ${folder}: run this in the folder of a plugin, or make one with "cinnabar new NAME"`
        : 'it is not JSON, or no object: mend it';
    return { findings: [wrong('package', text_, { file: FILE })], found: undefined, file };
  }
  const at = (seek: string) => ({ file: FILE, ...lineIn(text ?? '', seek) });
  const findings = [...fields(file, at), ...sdkFindings(file, at)];
  try {
    const found = inspectFolder(folder, 'folder');
    return { findings: [...findings, ...mainFindings(folder, found, file, at)], found, file };
  } catch (error) {
    findings.push(wrong('entry', `${operatorSentenceOf(error) ?? String(error)}: set "main"`, at('"main"')));
    return { findings, found: undefined, file };
  }
}

type At = (seek: string) => Pick<Sought, 'file' | 'line'>;

function lineIn(text: string, seek: string): Pick<Sought, 'line'> {
  const index = text.split('\n').findIndex((line) => line.includes(seek));
  return index < 0 ? {} : { line: index + 1 };
}

function fields({ name, license, keywords, scripts, private: isPrivate }: PluginPackage, at: At): Sought[] {
  const findings: Sought[] = [];
  if (name === undefined) findings.push(wrong('name', 'it has no name: add "name": "cinnabar-plugin-…"', at('{')));
  else if (!NAME.test(name))
    findings.push(
      better(
        'name',
        `by its name "${name}" nobody finds it: call it cinnabar-plugin-… or @you/cinnabar-plugin-…`,
        at('"name"'),
      ),
    );
  if (!keywords.includes(KEYWORD))
    findings.push(
      wrong('keyword', `bots find plugins by their keyword: add "keywords": ["${KEYWORD}"]`, at('"keywords"')),
    );
  if (license === undefined && !isPrivate)
    findings.push(
      wrong('licence', 'nobody may use it without a licence: add "license": "MIT", or yours', at('"name"')),
    );
  for (const script of INSTALL_SCRIPTS.filter((one) => one in scripts))
    findings.push(
      wrong(
        'install-script',
        `its script "${script}" would run on installing it, and bots never run those: take it out, and do it in "setup" or before "npm publish"`,
        at(`"${script}"`),
      ),
    );
  return findings;
}

function sdkFindings({ name = '', dependencies, peerDependencies }: PluginPackage, at: At): Sought[] {
  // Not checked: the host's packages have its version.
  if (name.startsWith('@cinnabar/')) return [];
  const range = peerDependencies[SDK];
  const line = `"peerDependencies": { "${SDK}": "^${HOST_VERSION}" }`;
  if (dependencies[SDK] !== undefined)
    return [
      wrong(
        'sdk',
        `${SDK} is the host's own object, not a copy: take it out of "dependencies" and add ${line}`,
        at(SDK),
      ),
    ];
  if (range === undefined) return [wrong('sdk', `it does not say for which host it is: add ${line}`, at('"name"'))];
  if (range.startsWith('file:') || satisfies(HOST_VERSION, range, { includePrerelease: true })) return [];
  return [wrong('sdk', `it is for ${SDK} ${range}, and this host has ${HOST_VERSION}: set ${line}`, at(SDK))];
}

function mainFindings(folder: string, { entry }: DiscoveredPlugin, file: PluginPackage, at: At): Sought[] {
  const { files, private: isPrivate } = file;
  if (files === undefined)
    return isPrivate
      ? []
      : [
          better(
            'files',
            'all of the folder would be packed, tests too: add "files": ["src", "locales", "README.md"]',
            at('"name"'),
          ),
        ];
  const main = relative(folder, entry).split(sep).join('/');
  const plain = files.map((one) => one.replace(/^\.?\//, '').replace(/\/?(?:\*\*?\/?\*?)?$/, ''));
  const isIn = plain.some((one) => one === '' || main === one || main.startsWith(`${one}/`));
  const findings: Sought[] = [];
  if (!isIn)
    findings.push(
      wrong(
        'files',
        `what "main" names (${main}) is not in "files": add "${main.split('/')[0] ?? main}"`,
        at('"files"'),
      ),
    );
  if (existsSync(join(folder, 'locales')) && !plain.includes('locales'))
    findings.push(wrong('files', 'its translations would be missing: add "locales" to "files"', at('"files"')));
  return findings;
}

/** `t('…'`, with the text. */
const CALL = /(?<![\w.$])t\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")/g;
const MOST_SHOWN = 5;

/** Texts that are missing in a plugin's catalogues. @param declared texts that are translated where they are shown */
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
        const shown = missing.slice(0, MOST_SHOWN).map((one) => JSON.stringify(one));
        const more = missing.length > MOST_SHOWN ? ` and ${missing.length - MOST_SHOWN} more` : '';
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

/** The value of a string literal. */
function unescaped(literal: string): string {
  return literal.replace(/\\(n|u\{([0-9a-f]+)\}|.)/gi, (_, one: string, point: string | undefined) =>
    point !== undefined ? String.fromCodePoint(Number.parseInt(point, 16)) : one === 'n' ? '\n' : one,
  );
}
