export function openMenu(_a: unknown, _o: unknown): void {}
export function copyBytesMenu(..._a: unknown[]): void {}
export function copyValueMenu(..._a: unknown[]): void {}
