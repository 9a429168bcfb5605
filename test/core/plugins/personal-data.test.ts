import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, type PersonalData, PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('What a plugin says of personal data in several parts', () => {
  it('is exported in full', async () => {
    const part = (value: object): PersonalData => ({ export: async () => value, forget: async () => undefined });
    const plugin = definePlugin({
      manifest: { id: 'parts', version: '1.0.0', description: 'Keeps two kinds of data' },
      setup({ personalData }) {
        personalData(part({ notes: 1 }));
        personalData(part({ pictures: 2 }));
      },
    });
    await using host = await createTestHost({ plugins: [plugin] });
    expect(await host.resolve(PersonalDataStore).export(host.alice.id)).to.deep.equal({
      own: { parts: [{ notes: 1 }, { pictures: 2 }] },
    });
  });
});
