import { speaking, t } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createWatch, type Watch } from '../../support/untranslated/watch.js';

const HELP = '**What I can do for you here**';

describe('the watch over end-to-end tests', () => {
  const send = (watch: Watch, content: string) =>
    watch.sent({ method: 'POST', route: '/channels/:channelId/messages', requestBody: { content } });

  it('admits what was looked up in a catalogue, around whatever values', () => {
    const watch = createWatch();
    const text = speaking(watch.language, () =>
      t('Loaded {plugin} {version}.', { plugin: '`dice`', version: '1.0.0' }),
    );
    send(watch, `${speaking(watch.language, () => t(HELP))}\n${text}`);
    expect(watch.untranslated()).to.deep.equal([]);
  });

  it('finds words of the code that went through no catalogue, or were written where no language was set', () => {
    const watch = createWatch();
    send(watch, `${t(HELP)}\nsomething else`);
    const [found, ...others] = watch.untranslated();
    expect(found).to.deep.include({ text: 'What I can do for you here', file: 'plugins/admin/src/help.ts' });
    expect(others).to.deep.equal([]);
  });

  it('leaves out what others say, and code', () => {
    const watch = createWatch();
    send(watch, 'I went to the shop and bought a car.\n```\nWhat I can do for you here\n```');
    expect(watch.untranslated()).to.deep.equal([]);
  });
});
