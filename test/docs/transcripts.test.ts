import { expect } from 'chai';
import { useFolder } from '../core/plugins/support/folder.js';
import { useCommandLine } from '../e2e/support/command-line.js';
import { readPage } from './support/markdown.js';
import { expectNone, readPages } from './support/pages.js';
import { isPlayed, playPage } from './support/play.js';
import { differenceOf, stepsOf } from './support/transcript.js';

describe('transcripts on the pages', function () {
  this.timeout(60_000);
  const folder = useFolder();
  const { play } = useCommandLine();

  it('are what `cinnabar start` prints in a process of its own, as the first one of the README shows', async () => {
    const first = readPages()
      .find(({ file }) => file === 'README.md')
      ?.blocks.find(({ language }) => language === 'console');
    const steps = first === undefined ? [] : stepsOf(first);
    const { out, code } = await play(
      folder.at('data'),
      steps.flatMap(({ typed }) => typed ?? []),
    );
    const said = steps.flatMap(({ printed }) => printed);
    expect(differenceOf(said, out.trimEnd().split('\n')), out).to.equal(undefined);
    expect(said).to.not.be.empty;
    expect(code).to.equal(0);
  });

  for (const page of readPages().filter(isPlayed)) {
    it(`${page.file} shows what the console prints`, async () => expectNone(await playPage(page)));
  }

  describe('of a page that is wrong', () => {
    const complaints = async (source: string) =>
      (await playPage(readPage('docs/admins/bad.md', source))).map(({ line, text }) => `${line}: ${text}`);
    const plugin = `\`\`\`ts
import { definePlugin } from '@cinnabar/sdk';

export default definePlugin({
  manifest: { id: 'hello', version: '1.0.0', description: 'Greets people' },
  setup({ command }) {
    command({ name: 'hello', description: 'Greets', run: (context) => context.reply('Hello!') });
  },
});
\`\`\`
`;

    it('are found where something else is printed, and where more is; the report contains what was printed', async () => {
      const [first, second, third, ...more] = await complaints(
        [
          plugin,
          '```console\n!hello\nm1 you: !hello\nm2 Cinnabar: Hi!\n```',
          'Change `Hello!` to `Howdy!`:',
          '```console\n↻ hello reloaded in 20 ms\n@bob: !hello\n…\nm4 Cinnabar: Howdy!\n> wait 5\n```',
          '```console\nm5 you: hello\n```',
        ].join('\n\n'),
      );
      expect(first).to.equal(
        '16: This is not printed: “m2 Cinnabar: Hi!”. Mend the page, or write … where lines are left out. What is printed after “!hello”:\n    m1 you: !hello\n    m2 Cinnabar: Hello!',
      );
      expect(second).to.match(
        /^26: More is printed than the page says: .*after “wait 5”:\n {4}wait 5: This was not sent/s,
      );
      expect(third).to.match(/^29: Nothing is typed here/);
      expect(more).to.deep.equal([]);
    });

    it('are found where a plugin does not start', async () => {
      expect((await complaints(plugin.replace("'hello', description", "'he llo', description")))[0]).to.match(
        /^1: The plugin does not start: .*he llo/,
      );
    });
  });

  describe('are held against what is printed', () => {
    const really = ['m1 you: !a', 'm2 Cinnabar: 2026-01-01 10:00 UTC (0s ago), in 12 ms', 'one', 'two'];

    it('but for times, ids and durations', () => {
      const said = ['m1 you: !a', 'm2 Cinnabar: 2026-11-23 09:12 UTC (in 0s), in 7 ms', 'one', 'two'];
      expect(differenceOf(said, really)).to.equal(undefined);
    });

    it('with gaps that hold any lines, or none', () => {
      expect(differenceOf(['…', 'two', '…'], really)).to.equal(undefined);
      expect(differenceOf(['…', 'one', '…', 'two'], really)).to.equal(undefined);
      expect(differenceOf(['…', 'one'], really)).to.include({ at: 2 });
      expect(differenceOf(['…', 'two', 'one'], really)).to.include({ at: 3 });
      expect(differenceOf([], really)).to.include({ at: 0 });
    });
  });
});
