import { expect } from 'chai';
import { differences } from '../support/harness.js';

const ours = {
  type: 1,
  name: 'roll',
  description: 'Rolls',
  options: [{ type: 4, name: 'sides', description: 'sides', required: true, min_value: 2 }],
  default_member_permissions: null,
};
/** The same command as Discord returns it. */
const theirs = {
  id: '1',
  application_id: '2',
  guild_id: '3',
  version: '4',
  nsfw: false,
  dm_permission: true,
  contexts: null,
  name_localizations: null,
  ...ours,
  options: [{ ...ours.options[0], name_localizations: null, autocomplete: false }],
};

describe('the difference between Discord’s commands and ours', () => {
  it('is nothing when Discord only added its own fields', () => {
    expect(differences([theirs], [ours])).to.deep.equal([]);
  });

  it('names commands to add and to remove, in whatever order they stand', () => {
    const ping = { name: 'ping', description: 'Pong', options: [] };
    expect(differences([theirs, ping], [ping, ours])).to.deep.equal([]);
    expect(differences([theirs], [ping])).to.deep.equal(['-roll', '+ping']);
  });

  it('names what changed in a command', () => {
    const changed = {
      ...ours,
      description: 'Rolls a die',
      default_member_permissions: '8',
      options: [{ type: 4, name: 'sides', description: 'sides', required: true, min_value: 3 }],
    };
    expect(differences([theirs], [changed])).to.have.members([
      '~roll.description',
      '~roll.default_member_permissions',
      '~roll.options.0.min_value',
    ]);
  });

  it('sees options that come, go or change places', () => {
    const [sides] = ours.options;
    const times = { type: 4, name: 'times', description: 'times' };
    expect(differences([ours], [{ ...ours, options: [sides, times] }])).to.deep.equal(['~roll.options.1']);
    expect(differences([ours], [{ ...ours, options: [] }])).to.deep.equal(['~roll.options.0']);
    expect(
      differences([{ ...ours, options: [sides, times] }], [{ ...ours, options: [times, sides] }]),
    ).not.to.deep.equal([]);
  });

  it('heeds contexts in the global list only', () => {
    expect(differences([{ ...theirs, contexts: [0] }], [ours])).to.deep.equal([]);
    expect(differences([{ ...theirs, contexts: [0] }], [{ ...ours, contexts: [1] }], 'dm')).to.deep.equal([
      '~roll.contexts.0',
    ]);
  });
});
