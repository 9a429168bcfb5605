import { readFile, symlink, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { useCommandLine } from '../../e2e/support/command-line.js';
import { cinnabar } from '../../support/cinnabar.js';
import { useFolder } from '../plugins/support/folder.js';

describe('cinnabar dev', function () {
  this.timeout(60_000);
  const folder = useFolder();
  const { start } = useCommandLine();

  it('reloads what is saved, shows what is wrong with it, and goes on with the version before until that is mended', async () => {
    await symlink(resolve('node_modules'), folder.at('node_modules'));
    await cinnabar(['new', 'dice2', '--no-install'], { cwd: folder.at() });
    const source = folder.at('dice2', 'src', 'index.ts');
    const edit = async (from: string, to: string) =>
      writeFile(source, (await readFile(source, 'utf8')).replace(from, to));
    const dev = start({}, ['dev', folder.at('dice2')]);
    const say = (line: string) => void dev.child.stdin.write(`${line}\n`);

    await dev.prints(/^Watching dice2: what you save is reloaded\.$/m);
    say('!dice2 world');
    await dev.prints(/Cinnabar: Hello, world!/);

    await edit("'Hello'", "'Howdy'");
    await dev.prints(/^↻ dice2 reloaded in \d+ ms/m);
    say('!dice2 world');
    await dev.prints(/Cinnabar: Howdy, world!/);

    await edit('setup({', 'setup({{');
    await dev.prints(/^✗ The plugin "dice2" was not reloaded\. .*src\/index\.ts:10:\d+: Expected identifier/m);
    await dev.prints(/^ {2}The version before goes on\./m);
    await dev.prints(/^✗ types:\nsrc\/index\.ts\(10,\d+\): error TS/m);
    say('!dice2 again');
    await dev.prints(/Cinnabar: Howdy, again!/);

    await edit('setup({{', 'setup({');
    await dev.prints(/^✓ types: nothing is wrong any more$/m);
    await edit('    command({', "    if (Date.now() > 0) throw new RangeError('no dice');\n    command({");
    await dev.prints(/failed to start: no dice\. .*\n {2}at src\/index\.ts:11:\d+\n {2}11 \| .*no dice/);

    await edit("    if (Date.now() > 0) throw new RangeError('no dice');\n", '');
    await edit(
      'return context.reply',
      "if (name === 'me') throw new RangeError('not me');\n        return context.reply",
    );
    await dev.prints(/(?:↻ dice2 reloaded[\s\S]*){3}/);
    say('!dice2 me');
    await dev.prints(/^✗ dice2: command dice2 failed: not me\n {2}at src\/index\.ts:18:\d+\n {2}18 \| .*not me/m);
    dev.child.stdin.end();
    expect((await dev.ended).code).to.equal(0);
  });

  it('refuses a folder that is neither a plugin nor a bot, with what makes one', async () => {
    const { err, code } = await start({}, ['dev', folder.at()]).ended;
    expect(err).to.match(/is neither a plugin's folder nor a bot's: .*"cinnabar new NAME" makes one\./);
    expect(code).to.equal(1);
  });
});
