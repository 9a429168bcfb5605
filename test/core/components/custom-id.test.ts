import { decodeCustomId, encodeCustomId } from '@cinnabar/core/internal/components/components';
import { expect } from 'chai';
import fc from 'fast-check';

describe('custom ids', () => {
  it('name the plugin, the component and its arguments', () => {
    expect(encodeCustomId('tasks', 'stop', [])).to.equal('tasks:stop');
    expect(encodeCustomId('tasks', 'stop', ['a', 'b:c', '50%'])).to.equal('tasks:stop:a:b%3Ac:50%25');
  });

  it('give any arguments back', () => {
    const argument = fc.string({ unit: fc.constantFrom('a', ':', '%', '%3A', '%25', '\n', 'é', '🎲'), maxLength: 5 });
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 3 }), (args) => {
        const encoded = encodeCustomId('tasks', 'stop', args);
        expect(decodeCustomId(encoded)).to.deep.equal({ plugin: 'tasks', name: 'stop', args });
      }),
    );
  });

  it('are not taken for ours when they have another form', () => {
    for (const id of ['', 'stop', 'Tasks:stop', 'tasks:', 'tasks:a b', ':stop']) {
      expect(decodeCustomId(id), id).to.equal(undefined);
    }
  });
});
