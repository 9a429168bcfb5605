import { unionOfIntents } from '@cinnabar/core/internal/gateway/discord-sync';
import { expect } from 'chai';
import { ownerOf } from '../../support/owners.js';

describe('the intents that the bot asks for', () => {
  it('are Guilds alone when nothing wants more', () => {
    expect(unionOfIntents([], false)).to.deep.equal(['Guilds']);
  });

  it('are the union of what the loaded plugins declare, each once', () => {
    const plugins = [
      ownerOf('a', { intents: ['GuildMembers', 'GuildMessages'] }).plugin,
      ownerOf('b', { intents: ['GuildMessages', 'GuildMessageReactions'] }).plugin,
    ];
    expect(unionOfIntents(plugins, false)).to.deep.equal([
      'GuildMembers',
      'GuildMessageReactions',
      'GuildMessages',
      'Guilds',
    ]);
  });

  it('include what prefix commands need once there are any', () => {
    expect(unionOfIntents([], false, ['GuildMembers'])).to.deep.equal(['GuildMembers', 'Guilds']);
    expect(unionOfIntents([], true)).to.deep.equal(['DirectMessages', 'GuildMessages', 'Guilds', 'MessageContent']);
  });
});
