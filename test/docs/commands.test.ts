import { expect } from 'chai';
import { readDeclared } from './support/declared.js';
import { type Page, readPage } from './support/markdown.js';
import { ownNames, wrongNames } from './support/named.js';
import { expectNone, readPages } from './support/pages.js';
import { wrongCommands } from './support/shell.js';

describe('commands on the pages', () => {
  const declared = readDeclared();
  const namesOf = (page: Page) => wrongNames(page, declared, ownNames(page));

  it('that are typed in a shell exist', () => {
    expectNone(readPages().flatMap((page) => wrongCommands(page, declared)));
  });

  it('that the text names exist, and so do settings and keys of the configuration', () => {
    expectNone(readPages().flatMap(namesOf));
  });

  describe('of a page that is wrong', () => {
    const shell = (lines: string, file = 'docs/operators/bad.md') =>
      wrongCommands(readPage(file, `Words.\n\n\`\`\`sh\n${lines}\n\`\`\``), declared).map(
        ({ line, text }) => `${line}: ${text}`,
      );

    it('are found when the command line has no such command, or no such option of it', () => {
      expect(
        shell(
          'cinnabar start\nnpx cinnabar strat\ncinnabar plugin ad x\ncinnabar doctor --yes\ncinnabar doctor --nosuch',
        ),
      ).to.satisfy(
        (found: readonly string[]) =>
          found.length === 4 &&
          found[0]?.startsWith('5: There is no command cinnabar strat; there are ') &&
          found[1]?.startsWith('6: There is no command cinnabar plugin ad; there are add, ') &&
          found[2] === '7: cinnabar doctor does not take --yes: see cinnabar help.' &&
          found[3]?.startsWith('8: cinnabar doctor --nosuch cannot be read: '),
      );
    });

    it('are found when the project has no such script', () => {
      expect(shell('npm run chek', 'docs/authors/bad.md')).to.deep.equal([
        '4: There is no script chek in core/templates/plugin/package.json: it has dev, test, check, pack.',
      ]);
      expect(shell('npm run check', 'README.md')[0]).to.match(/^4: There is no script check in package\.json/);
      expect(shell('npx cinnabar new a --project && cd a\nnpm run check')[0]).to.match(
        /no script check in core.templates.bot/,
      );
      expect(shell('npx cinnabar new a && cd a\nnpm run check')).to.deep.equal([]);
    });

    it('are found when there is no such program, run or file', () => {
      expect(shell('frobnicate all # echo\nnpm run bench -- nosuch\nnode core/nosuch.mjs')).to.satisfy(
        ([program, run, file]: readonly string[]) =>
          program?.startsWith('4: frobnicate is no command that pages may ask for') &&
          run?.startsWith('5: There is no bench nosuch; there are ') &&
          file === '6: There is no file core/nosuch.mjs to run: mend its path.',
      );
    });

    it('are found behind operators, within $(…) and behind variables', () => {
      expect(shell('cd x && frobnicate | grep y')).to.have.length(2);
      expect(shell('echo "$(frobnicate x)"')).to.have.length(1);
      expect(shell('CINNABAR_NOSUCH=1 npm start')[0]).to.match(/^4: There is no variable CINNABAR_NOSUCH/);
    });

    const named = (text: string) => namesOf(readPage('docs/admins/bad.md', text)).map(({ text: words }) => words);

    it('are found in the text when the bot has no such command', () => {
      expect(named('`!plugin enable <id>`, `!plugin …`, `!access`, `!help words`')).to.deep.equal([]);
      expect(named('`!nosuch a`')).to.deep.equal([
        'There is no command nosuch: docs/reference/commands.md has those that there are.',
      ]);
      expect(named('`!plugin enabel x`')[0]).to.match(/^There is no command plugin enabel; there are plugin /);
      expect(named('`/budget show`, `/metrics`, `/nosuch a:1`')).to.have.length(1);
      expect(named('`!budget show all`')).to.deep.equal(['budget show takes nothing: leave “all” out.']);
    });

    it('are found in the text when there is no such file', () => {
      const page = readPage('CONTRIBUTING.md', 'See `core/src/host.ts`, `plugins/*` and `test/nosuch.ts`.');
      expect(namesOf(page).map(({ text }) => text)).to.deep.equal(['There is no file test/nosuch.ts: mend its path.']);
    });

    it('are found in the text when a plugin has no such setting, or the configuration no such key or variable', () => {
      expect(named('`CINNABAR_DATA=/data`, `CINNABAR_CONFIG_INVALID`, `CINNABAR_DATEN`')).to.have.length(1);
      expect(
        named('`!set moderation banDeleteDays 1`, `!set <plugin> <key>`, `host.plugins.registries`'),
      ).to.deep.equal([]);
      expect(named('`!set moderation banDelete 1`')[0]).to.match(/^moderation has no setting banDelete: it has /);
      expect(named('`!set nosuch`')[0]).to.match(/^No plugin nosuch has settings; there are /);
      expect(named('`host.plugins.registry`')[0]).to.match(/^There is no key host\.plugins\.registry /);
    });
  });
});
