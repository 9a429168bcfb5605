import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { openStage } from '../../core/cli/console-harness.js';
import { useFolder } from '../../core/plugins/support/folder.js';
import { describeChromium, launchChromium } from '../../support/chromium.js';
import { useCommandLine } from '../support/command-line.js';

/** The ids of the demo guild are the same in each run. */
async function ownerId(): Promise<string> {
  const stage = await openStage();
  await stage.discord.close();
  return stage.you.id;
}

describeChromium('the page of the local Discord, while npm start is stopped and started again', function () {
  this.timeout(60_000);
  const folder = useFolder();
  const { start } = useCommandLine();

  it('reconnects by itself, and shows later messages', async () => {
    const data = folder.at('data');
    const run = async (line: string) => {
      const { child, prints, ended } = start({ CINNABAR_DATA: data });
      child.stdin.write(`${line}\n`);
      await prints(/alice: /);
      return { child, ended };
    };
    const first = await run('@alice: the first run');
    const { port, key } = JSON.parse(await readFile(folder.at('data', 'console-page.json'), 'utf8'));
    await using browser = await launchChromium();
    const window = await browser.newPage();
    await window.goto(`http://127.0.0.1:${port}/client/#key=${key}&as=${await ownerId()}`);
    await window.getByText('the first run').waitFor();
    await window.getByRole('textbox', { name: 'Message #general' }).fill('a draft');
    first.child.kill('SIGTERM');
    await first.ended;
    await window.getByText('cannot be reached').waitFor();

    const second = await run('@alice: the second run');
    await window.getByText('the second run').waitFor();
    expect(await window.getByText('the first run').count(), 'that guild is gone').to.equal(0);
    const box = window.getByRole('textbox', { name: 'Message #general' });
    expect(await box.inputValue()).to.equal('a draft');
    await box.fill('/hel');
    await window.getByRole('option', { name: /^\/help/ }).waitFor();
    await box.fill('a draft');
    await window.keyboard.press('Enter');
    await window.getByRole('listitem').getByText('a draft').waitFor();
    second.child.kill('SIGTERM');
    await second.ended;
  });

  it('is served elsewhere when its port is taken', async () => {
    const data = folder.at('taken');
    const address = async () => JSON.parse(await readFile(folder.at('taken', 'console-page.json'), 'utf8'));
    const { child, prints, ended } = start({ CINNABAR_DATA: data });
    child.stdin.end('!ping\n');
    await prints(/Cinnabar: /);
    await ended;
    const before = await address();
    const other = createServer().listen(before.port, '127.0.0.1');
    const again = start({ CINNABAR_DATA: data });
    again.child.stdin.end('!ping\n');
    expect((await again.ended).code).to.equal(0);
    other.close();
    const after = await address();
    expect(after.key).to.equal(before.key);
    expect(after.port).not.to.equal(before.port);
  });
});
