import { expect } from 'chai';
import { deadLinks, unreachable } from './support/links.js';
import { readPage } from './support/markdown.js';
import { expectNone, readBook, readPages } from './support/pages.js';

describe('links of the pages', () => {
  it('lead to files and headings that are there', async () => {
    const book = await readBook();
    expectNone(readPages().flatMap((page) => deadLinks(page, book)));
  });

  it('reach every page of the book from its table of contents', async () => {
    expectNone(unreachable(readPages(), await readBook()));
  });

  describe('of a page that is wrong', () => {
    const complaints = async (source: string) =>
      deadLinks(readPage('docs/authors/bad.md', source), await readBook()).map(({ line, text }) => `${line}: ${text}`);

    it('are found when the file is not there', async () => {
      expect(await complaints('Words.\n\nSee [this](nowhere.md).')).to.deep.equal([
        '3: There is no file docs/authors/nowhere.md: mend the link nowhere.md.',
      ]);
    });

    it('are found when the heading is not there, on the page itself or on another', async () => {
      expect(await complaints('# A page\n\n[a](#b), [b](#a-page) and\n[c](../admins/from-red.md#no-such)')).to.satisfy(
        ([own, other, ...more]: readonly string[]) =>
          own === '3: docs/authors/bad.md has no heading #b: it has #a-page.' &&
          other?.startsWith('4: docs/admins/from-red.md has no heading #no-such: it has #') &&
          more.length === 0,
      );
    });

    it('are found when they hold in the book alone', async () => {
      expect(await complaints('[a](/admins/from-red)'))
        .to.have.nested.property('[0]')
        .that.matches(/^1: \/admins\/from-red holds in the book alone/);
    });

    it('are left alone within code, and where they lead to other sites', async () => {
      expect(
        await complaints('`[a](nowhere.md)` [b](https://example.org/x#y)\n\n```text\n[c](nowhere.md)\n```'),
      ).to.deep.equal([]);
    });

    it('count headings that are there twice', async () => {
      expect(await complaints('## One & `two`\n\n## One & `two`\n\n[a](#one--two-1) [b](#one--two)')).to.deep.equal([]);
    });

    it('are found when no page leads to it', async () => {
      const pages = [
        readPage('docs/nowhere/page.md', '# A page'),
        readPage('docs/index.md', '---\nlink: /no/such\n---'),
      ];
      expect(unreachable(pages, await readBook())).to.deep.equal([
        {
          file: 'docs/nowhere/page.md',
          line: 1,
          text: 'No page leads here: name its folder in CHAPTERS of docs/.vitepress/book.js.',
        },
        { file: 'docs/index.md', line: 2, text: '/no/such is no page of the book: mend the link.' },
      ]);
    });
  });
});
