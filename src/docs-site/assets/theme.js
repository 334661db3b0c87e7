/* Before anything is painted: the colours that the visitor chose, here or in the console. */
const chosen = (() => {
  try {
    return localStorage.getItem('six.theme');
  } catch {
    return null; // storage may be forbidden
  }
})();
document.documentElement.classList.add('scripts');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
