// Sets theme and density before the first paint (APP-7). It is a classic script of its own: a module would run after
// the paint, and the content policy refuses inline scripts. The names are those of data/preferences.ts.
(() => {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem('svc.preferences') ?? '{}') ?? {};
  } catch {
    // Storage is blocked or damaged: the defaults hold.
  }
  const dark =
    kept.theme === 'dark' || (kept.theme !== 'light' && !matchMedia('(prefers-color-scheme: light)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  document.documentElement.dataset.density = kept.density === 'compact' ? 'compact' : 'comfortable';
})();
