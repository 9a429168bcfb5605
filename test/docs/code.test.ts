import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { type Problem, readPage } from './support/markdown.js';
import { compiled, compileModules, modulesOf } from './support/modules.js';
import { expectNone, readPages } from './support/pages.js';

// The tests of the pages have to be registered while this file is loaded, as Mocha requires.
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
    const statement =
      '```ts fragment\nawait command({ name, description: word, run: (context) => context.reply(word) });\n```';
    const part =
      "```ts fragment\n// What is kept:\ncollections: {\n  counts: { scope: 'guild', version: 1, schema: z.object({ n: z.number() }) },\n},\n```";
    const pages = {
      'wrong.md': `# A page\n\n${plugin('`$' + '{sides.length}`')}`,
      'unnamed.md': `Words.\n\n<!-- ts: declare const name: string; -->\n\n${statement}`,
      'named.md': `<!-- ts: declare const name: string;\ndeclare const word: string; -->\n${statement}`,
      'part.md': part,
      'wrong-part.md': part.replace("'guild'", "'gild'"),
    };
    let found: readonly Problem[] = [];
    before(async () => {
      const place = mkdtempSync(join(folder, 'wrong-'));
      const wrong = Object.entries(pages).flatMap(([file, source]) => modulesOf(readPage(file, source)));
      found = await compileModules(place, wrong);
    });
    const complaints = (page: keyof typeof pages) =>
      found.filter(({ file }) => file === page).map(({ line, text }) => `${line}: ${text}`);

    it('is refused at its line of the page', () => {
      expect(complaints('wrong.md')).to.deep.equal([
        "13: Property 'length' does not exist on type 'number'. Mend it; what cannot stand alone is a `ts fragment`.",
      ]);
    });

    it('is refused when a fragment needs what nothing names', () => {
      expect(complaints('unnamed.md')).to.satisfy(
        (told: readonly string[]) =>
          told.length === 2 && told.every((one) => one.startsWith("6: Cannot find name 'word'")),
      );
      expect(complaints('named.md')).to.deep.equal([]);
    });

    it('is read as a part of a definition', () => {
      expect(complaints('part.md')).to.deep.equal([]);
      expect(complaints('wrong-part.md')).to.satisfy(
        ([only, ...more]: readonly string[]) => only?.startsWith('4: Type \'"gild"\'') && more.length === 0,
      );
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
  });
});
