// Applies every function that is named behind the two files to the parameters and arguments of the
// first file, and writes what it gives to the second one.
int main(int count, char** words)
{
    std::FILE* file = std::fopen(words[1], "rb");
    for (real value; std::fread(&value, sizeof value, 1, file) == 1;) input.push_back(value);
    std::fclose(file);
    for (int word = 3; word < count; ++word) {
        const Entry* found = nullptr;
        for (const Entry& entry : ENTRIES) {
            if (std::string(entry.name) == words[word]) found = &entry;
        }
        if (!found) {
            std::fprintf(stderr, "there is no device function %s\n", words[word]);
            return 2;
        }
        position = 0;
        take(p);
        while (position < input.size()) found->call();
    }
    file = std::fopen(words[2], "wb");
    std::fwrite(output.data(), sizeof(real), output.size(), file);
    return std::fclose(file);
}
