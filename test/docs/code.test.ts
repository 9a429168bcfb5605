import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { useFolder } from '../core/plugins/support/folder.js';
import { type Problem, readPage } from './support/markdown.js';
import { compiled, compileModules, modulesOf } from './support/modules.js';
import { expectNone, readPages } from './support/pages.js';

// The tests on the pages have to be known when this file has been read: Mocha takes none later.
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cinnabar-pages-')));
const modules = readPages().flatMap(modulesOf);
const problems = await compileModules(folder, modules);
const unread: Problem[] = [];
for (const module of modules.filter(({ kind }) => kind === 'test')) {
  try {
    await import(pathToFileURL(compiled(folder, module)).href);
  } catch (error) {
    unread.push({ file: module.page, line: module.line, text: `The test cannot be read: ${String(error)}` });
  }
}

describe('TypeScript on the pages', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('is accepted by the compiler, as in a project that `cinnabar new` makes', () => {
    expectNone(problems);
  });

  it('has tests that can be read; they ran before this one', () => {
    expectNone(unread);
  });

  describe('of a page that is wrong', function () {
    this.timeout(60_000);
    const { at } = useFolder();
    let compiledPages = 0;
    const complaints = async (source: string) =>
      (await compileModules(at(`${compiledPages++}`), modulesOf(readPage('docs/bad.md', source)))).map(
        ({ file, line, text }) => `${file}:${line}: ${text}`,
      );
    const plugin = (reply: string) => `\`\`\`ts
import { definePlugin, z } from '@cinnabar/sdk';

export default definePlugin({
  manifest: { id: 'dice', version: '1.0.0', description: 'Rolls dice' },
  setup({ command }) {
    command({
      name: 'roll',
      description: 'Rolls a die',
      options: { sides: z.number() },
      run: (context, { sides }) => context.reply(${reply}),
    });
  },
});
\`\`\`
`;

    it('is refused at its line of the page', async () => {
      expect(await complaints(`# A page\n\n${plugin('`$' + '{sides.length}`')}`)).to.deep.equal([
        "docs/bad.md:13: Property 'length' does not exist on type 'number'. Mend it; what cannot stand alone is a `ts fragment`.",
      ]);
    });

    it('is refused when a fragment needs what nothing names', async () => {
      const fragment =
        '```ts fragment\nawait command({ name, description: word, run: (context) => context.reply(word) });\n```';
      expect(await complaints(`Words.\n\n<!-- ts: declare const name: string; -->\n\n${fragment}`)).to.satisfy(
        (found: readonly string[]) =>
          found.length === 2 && found.every((one) => one.startsWith("docs/bad.md:6: Cannot find name 'word'")),
      );
      expect(
        await complaints(`<!-- ts: declare const name: string;\ndeclare const word: string; -->\n${fragment}`),
      ).to.deep.equal([]);
    });

    it('is read as parts of one project, version by version', () => {
      const test = "```ts\n// test/dice.test.ts\ndescribe('dice', () => undefined);\n```\n";
      const helper = '```ts\n// src/die.ts\nexport const sides = 6;\n```\n';
      const page = readPage('docs/good.md', [plugin('`a`'), helper, test, plugin('`b`'), test].join('\n'));
      expect(modulesOf(page).map(({ project, file, kind }) => `${project}/${file} ${kind}`)).to.deep.equal([
        'docs_good.md/1/src/index.ts plugin',
        'docs_good.md/1/src/die.ts module',
        'docs_good.md/1/test/dice.test.ts test',
        'docs_good.md/2/src/die.ts module',
        'docs_good.md/2/src/index.ts plugin',
        'docs_good.md/2/test/dice.test.ts test',
      ]);
    });

    it('is accepted as a part of a definition', async () => {
      const part =
        "```ts fragment\n// What is kept:\ncollections: {\n  counts: { scope: 'guild', version: 1, schema: z.object({ n: z.number() }) },\n},\n```";
      expect(await complaints(part)).to.deep.equal([]);
      expect(await complaints(part.replace("'guild'", "'gild'"))).to.satisfy(
        ([only, ...more]: readonly string[]) => only?.startsWith('docs/bad.md:4: Type \'"gild"\'') && more.length === 0,
      );
    });
  });
});
