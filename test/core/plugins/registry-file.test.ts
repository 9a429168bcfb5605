import { readFileSync } from 'node:fs';
import { registryFileSchema } from '@cinnabar/core/internal/plugins/install/registry-file';
import { expect } from 'chai';

describe('a registry file', () => {
  it('is as its page shows one, and has the keys that the page explains', () => {
    const page = readFileSync('docs/authors/registry-file.md', 'utf8');
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
    expect(registryFileSchema.safeParse(JSON.parse(example)).error?.issues).to.equal(undefined);
    const { plugins } = registryFileSchema.shape;
    const keys = [...Object.keys(plugins.element.shape), ...Object.keys(plugins.element.shape.versions.element.shape)];
    for (const key of keys) expect(page.includes(`${key}\``) || page.includes(`${key}[]`), key).to.equal(true);
  });
});
