import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { useFolder } from '../core/plugins/support/folder.js';
import { readPage } from '../docs/support/markdown.js';
import { differenceOf, stepsOf } from '../docs/support/transcript.js';
import { useCommandLine } from './support/command-line.js';
import { contents, startWholeBot } from './support/whole-bot.js';

const ROOT = new URL('../../../', import.meta.url);
const at = (path: string) => fileURLToPath(new URL(path, ROOT));
const README = readFileSync(at('README.md'), 'utf8');
const node = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [...args]).catch((failed: { stdout: string; stderr: string }) => failed);

/** Fenced blocks of a language, below a heading. */
function blocksUnder(heading: RegExp, language: string): readonly string[] {
  const [, below = ''] = README.split(new RegExp(`^#+ ${heading.source}.*$`, 'm'));
  const [section = ''] = below.split(/^#+ /m);
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, body = '']) => body,
  );
}

describe('the README', function () {
  this.timeout(60_000);
  const folder = useFolder();
  const { play } = useCommandLine();
  const [plugin = ''] = blocksUnder(/A plugin in 15 lines/, 'ts');

  it('shows a plugin of 15 lines that the compiler accepts as it stands', async () => {
    expect(plugin.trimEnd().split('\n').length).to.be.within(5, 15);
    await folder.write({
      'package.json': { type: 'module', private: true },
      'tsconfig.json': {
        compilerOptions: {
          module: 'NodeNext',
          target: 'ES2023',
          strict: true,
          exactOptionalPropertyTypes: true,
          verbatimModuleSyntax: true,
          skipLibCheck: true,
          noEmit: true,
          types: [],
        },
        include: ['**/*.ts'],
      },
      'dice/index.ts': plugin,
    });
    const installed = folder.at('node_modules', '@cinnabar', 'sdk');
    await mkdir(dirname(installed), { recursive: true });
    await symlink(at('sdk'), installed, 'junction');
    const tsc = at('node_modules/typescript/bin/tsc');
    expect((await node(tsc, '-p', folder.at())).stdout).to.equal('');

    await folder.write({
      'dice/index.ts': plugin.replace('{ sides }', '{ sides: many }'),
    });
    expect((await node(tsc, '-p', folder.at())).stdout).to.match(/dice\/index\.ts.*sides/);
  });

  it('shows a plugin that does what is said of it', async () => {
    await folder.write({ 'my-plugins/dice/index.ts': plugin });
    await using bot = await startWholeBot({ more: [folder.at('my-plugins/dice')] });
    const answer = async (text: string) => contents(await bot.hears(text, bot.you)).join('\n');
    expect(await answer('!roll 20')).to.match(/^🎲 \d+$/);
    expect(await answer('!roll')).to.match(/^🎲 [1-6]$/);
    const slash = bot.alice.slash(bot.general, 'roll', { sides: 20 });
    await bot.settled();
    expect(slash.response?.content).to.match(/^🎲 \d+$/);
    expect(await answer('!help roll'))
      .to.include('Rolls a die')
      .and.include('sides');
    expect(await answer('!roll banana'))
      .to.match(/sides.*number/)
      .and.include('!roll [sides');
    await folder.write({ 'my-plugins/dice/index.ts': plugin.replace('🎲', '🎯') });
    expect(await answer('!plugin reload dice')).to.match(/^Reloaded `dice`/);
    expect(await answer('!roll')).to.match(/^🎯 [1-6]$/);
  });

  it('shows what the first run really prints', async () => {
    const block = readPage('README.md', README).blocks.find(({ language }) => language === 'console');
    if (block === undefined) throw new Error('the README shows no run');
    const steps = stepsOf(block);
    const typed = steps.flatMap((step) => step.typed ?? []);
    expect(typed.length).to.be.greaterThan(1);
    const { out, code } = await play(folder.at('data'), typed);
    const said = steps.flatMap(({ printed }) => printed);
    expect(differenceOf(said, out.trimEnd().split('\n')), out).to.equal(undefined);
    expect(code).to.equal(0);
  });
});

describe('the README of admin', () => {
  it('names every kind of alert that the host and the bundled plugins raise', () => {
    const sources = ['core/src', 'plugins'].flatMap((folder) =>
      readdirSync(at(folder), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts') && !/(^|\/)(node_modules|dist)\//.test(path))
        .map((path) => readFileSync(at(`${folder}/${path}`), 'utf8')),
    );
    // What an alert is, in the source: a kind, a text and a remedy.
    const kinds = sources.flatMap((source) =>
      [...source.matchAll(/\bkind: ([^\n]*),\n\s*text:[\s\S]{0,700}?\bremedy:/g)].flatMap(([, kind = '']) =>
        [...kind.matchAll(/'([a-z-]+)'/g)].map(([, name = '']) => name),
      ),
    );
    expect(kinds).to.include.members(['gateway-away', 'model-resting', 'disk-full', 'restart-after-crash']);
    const readme = readFileSync(at('plugins/admin/README.md'), 'utf8');
    expect([...new Set(kinds)].filter((kind) => !readme.includes(`\`${kind}\``))).to.deep.equal([]);
  });
});

describe('CONTRIBUTING', () => {
  it('names files and folders that are there', async () => {
    const paths = [
      ...(await readFile(at('CONTRIBUTING.md'), 'utf8')).matchAll(/`((?:core|sdk|plugins|test|config)\/[\w./-]+)`/g),
    ];
    const missing = paths
      .map(([, path = '']) => path)
      .filter((path) => !path.startsWith('core/dist') && !existsSync(at(path)));
    expect(paths).to.not.be.empty;
    expect(missing).to.deep.equal([]);
  });
});
